// Shows the times of build-record.js: all on the page "Build record", and on a notebook's page its own.
// A classic script: it also works from disk.
(function () {
  "use strict";
  var record = window.gspaBuildRecord;
  if (!record) return;
  var total = 0;
  var machines = [];
  function told(machine) {
    return machine.cpu + ", " + machine.cores + (machine.cores === 1 ? " core" : " cores") + " at hand, " +
      (machine.memory_gib ? machine.memory_gib + " GiB of memory, " : "") + machine.system;
  }
  record.notebooks.forEach(function (one) {
    var place = document.querySelector('[data-ran="' + one.name + '"]');
    if (place && one.seconds !== null && one.machine) {
      var rounded = Math.max(1, Math.round(one.seconds));
      place.textContent = "For this site it ran " + rounded + (rounded === 1 ? " second" : " seconds") +
        " (" + told(one.machine) + ").";
    }
    var cells = document.querySelectorAll('[data-time="' + one.name + '"]');
    if (!cells.length || one.seconds === null) return;
    total += one.seconds;
    cells.forEach(function (cell) {
      cell.textContent = one.seconds.toFixed(1) + (cell.tagName === "SPAN" ? " s" : "");
    });
    ["cpu", "memory"].forEach(function (fact) {
      var cell = document.querySelector("[data-" + fact + '="' + one.name + '"]');
      if (cell && typeof one[fact] === "number") cell.textContent = one[fact].toFixed(fact === "cpu" ? 1 : 0);
    });
    if (!one.machine) return;
    var text = told(one.machine);
    if (machines.indexOf(text) < 0) machines.push(text);
  });
  var said = document.getElementById("gspa-machine");
  if (!said || !machines.length) return;
  said.insertBefore(document.createTextNode(
    total.toFixed(0) + " seconds in all, on " + machines.join("; and on ") + ". "
  ), said.firstChild);
})();
