"""FLAME: federated learning in the shuffle model (Liu, Cao, Chen, Guo, Yoshikawa, AAAI 2021).

`randomizers` are its two local randomizers, as printed and corrected, and what dummies are drawn from;
`published` and `accounting` are its privacy, as printed and as it can be proved. `protocols` plays a round report
by report, with real encryption if wanted; `aggregation` and `federated` train with all of it, `experiment` has the
paper's settings.
"""
