// Switches an explorer between the states that were drawn beforehand: [picture, alternative text, message].
for (const explorer of document.querySelectorAll(".explorer")) {
  const states = JSON.parse(explorer.querySelector("script").textContent);
  const image = explorer.querySelector("img"), form = explorer.querySelector("form");
  const chosen = (control) => {
    const input = control.querySelector("input:checked, select");
    return input === null ? 0 : input.type === "checkbox" ? 1 : Number(input.value);
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    let index = 0; // the last control changes fastest
    for (const control of form.querySelectorAll("[data-control]"))
      index = index * Number(control.dataset.count) + chosen(control);
    [image.src, image.alt, explorer.querySelector("[role=status]").textContent] = states[index];
  });
  form.hidden = false;
}
