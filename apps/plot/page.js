"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const shown = id => { $(id).hidden = false; return $(id); };
const put = (parent, tag, text = "", attributes = {}) => {
    const e = document.createElement(tag);
    e.textContent = text;
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    return parent.appendChild(e);
};
/* list: [name, value, class] of each figure at the head of the page. */
const headline = list => {
    for (const [name, value, kind = ""] of list) {
        const card = put($("headline"), "div", "", { class: "figure " + kind, "data-name": name });
        put(card, "b", value);
        put(card, "span", name);
    }
};
