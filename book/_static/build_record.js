// Shows the times of build-record.js on the page "Build record". A classic script: it also works from disk.
(function () {
  "use strict";
  var record = window.gspaBuildRecord;
  if (!record) return;
  var total = 0;
  var machines = [];
  record.notebooks.forEach(function (one) {
    var cells = document.querySelectorAll('[data-time="' + one.name + '"]');
    if (!cells.length || one.seconds === null) return;
    total += one.seconds;
    cells.forEach(function (cell) {
      cell.textContent = one.seconds.toFixed(1) + (cell.tagName === "SPAN" ? " s" : "");
    });
    if (!one.machine) return;
    var text = one.machine.cpu + ", " + one.machine.cores + " cores at hand, " +
      (one.machine.memory_gib ? one.machine.memory_gib + " GiB of memory, " : "") + one.machine.system;
    if (machines.indexOf(text) < 0) machines.push(text);
  });
  var said = document.getElementById("gspa-machine");
  if (!said || !machines.length) return;
  said.insertBefore(document.createTextNode(
    total.toFixed(0) + " seconds in all, on " + machines.join("; and on ") + ". "
  ), said.firstChild);
})();
