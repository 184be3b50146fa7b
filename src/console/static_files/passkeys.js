"use strict";
// Passkeys: shows their forms where the browser knows them, and sends the answer of the device.
(() => {
  if (!window.PublicKeyCredential) return;
  const packed = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
  const bytes = (text) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const key = (rest) => ({ type: "public-key", ...rest });

  function ask({ user, email, known }, challenge) {
    const userVerification = "required";
    if (!user) return navigator.credentials.get({ publicKey: { challenge, userVerification } });
    return navigator.credentials.create({ publicKey: {
      challenge,
      rp: { name: "Watchkeeper" },
      user: { id: bytes(user), name: email, displayName: email },
      pubKeyCredParams: [-7, -8, -257].map((alg) => key({ alg })),
      excludeCredentials: known.split(" ").filter(Boolean).map((id) => key({ id: bytes(atob(id)) })),
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification },
    } });
  }

  async function fill(form) {
    const body = new URLSearchParams(new FormData(form));
    body.set("what", "passkey-challenge");
    const answer = await fetch(form.action, { method: "POST", body });
    const challenge = await answer.text();
    if (!answer.ok) throw challenge;
    const { rawId, response } = await ask(form.dataset, bytes(challenge));
    const add = (name, value) => {
      const input = document.createElement("input");
      Object.assign(input, { type: "hidden", name, value });
      form.append(input);
    };
    add("challenge", challenge);
    add("rawId", packed(rawId));
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (response[name]) add(name, packed(response[name]));
    }
    form.submit();
  }

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const problem = form.querySelector("[role=alert]");
    const usual = problem.textContent;
    form.hidden = false;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      problem.hidden = true;
      fill(form).catch((reason) => {
        problem.textContent = reason.trim && reason[0] !== "<" ? reason : usual;
        problem.hidden = false;
      });
    });
  }
})();
