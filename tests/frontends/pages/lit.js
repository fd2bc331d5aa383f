// Lit: controls in nested shadow roots, and an element that is a control of a form by ElementInternals.
import { LitElement, css, html } from 'lit';
import { live } from 'lit/directives/live.js';

window.state = { sent: 0 };

class GlField extends LitElement {
  static formAssociated = true;
  static properties = { label: {}, name: {}, value: {} };
  static shadowRootOptions = { ...LitElement.shadowRootOptions, delegatesFocus: true };
  #internals = this.attachInternals();
  value = '';
  taken(event) {
    this.value = event.target.value;
    this.#internals.setFormValue(this.value);
    window.state[this.name] = this.value;
  }
  render() {
    return html`<label>${this.label} <input .value=${live(this.value)} @input=${this.taken}></label>`;
  }
}
customElements.define('gl-field', GlField);

class GlSwitch extends LitElement {
  static properties = { on: { type: Boolean, reflect: true } };
  static styles = css`button { width: 4em } `;
  turn() { this.on = !this.on; window.state.dark = this.on; }
  render() {
    return html`<button type="button" role="switch" aria-label="Dark" aria-checked=${this.on ? 'true' : 'false'} @click=${this.turn}></button>`;
  }
}
customElements.define('gl-switch', GlSwitch);

class GlForm extends LitElement {
  take = (event) => { window.state[event.target.id] = event.target.type === 'checkbox' ? event.target.checked : event.target.value; };
  send(event) {
    event.preventDefault();
    window.state.sent += 1;
    window.state.form = Object.fromEntries(new FormData(event.target));
  }
  render() {
    return html`<form @submit=${this.send}>
      <gl-field label="Name" name="name"></gl-field>
      <label>Notes <textarea id="notes" @input=${this.take}></textarea></label>
      <label>Land <select id="land" @change=${this.take}><option value="no">Norway</option><option value="se">Sweden</option></select></label>
      <label><input id="terms" type="checkbox" @change=${this.take}> I accept</label>
      <gl-switch></gl-switch>
      <slot></slot>
      <button>Send</button>
    </form>`;
  }
}
customElements.define('gl-form', GlForm);
document.getElementById('root').innerHTML = '<gl-form><label>Slotted <input id="slotted" oninput="state.slotted = value"></label></gl-form>';
