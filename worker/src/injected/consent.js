// Consent dialogs of five vendors, by their own public markup: which is shown, and which of its buttons says what.

const NO = /^\W*(disagree|reject|decline|refuse|deny|do not|ablehnen|alle ablehnen|refuser|tout refuser|rechazar|rifiut|weiger|alles weigeren|afvis|avvisa|neka|rejeitar|odrzu|hylkää)/i;
const YES = /^\W*(agree|accept|allow|akzeptieren|alle akzeptieren|accepter|tout accepter|aceptar|accett|accepteren|godk|acceptera|aceitar|zaakceptuj|hyväksy)/i;
const MORE = /^\W*(more options|options|manage|settings|preferences|einstellungen|mehr optionen|paramètres|plus d'options|opciones|preferenze|meer opties)/i;

// Each list in the order of preference: a selector, or a selector and what the text must begin with.
const VENDORS = [
  {
    name: 'OneTrust',
    shown: ['#onetrust-banner-sdk', '#onetrust-pc-sdk'],
    reject: ['#onetrust-reject-all-handler', '.ot-pc-refuse-all-handler', '.onetrust-close-btn-handler.ot-close-link'],
    settings: ['#onetrust-pc-btn-handler'],
    accept: ['#onetrust-accept-btn-handler', '#accept-recommended-btn-handler'],
  },
  {
    name: 'Cookiebot',
    shown: ['#CybotCookiebotDialog'],
    reject: ['#CybotCookiebotDialogBodyButtonDecline', '#CybotCookiebotDialogBodyLevelButtonLevelOptinDeclineAll'],
    settings: [],
    accept: [
      '#CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll',
      '#CybotCookiebotDialogBodyButtonAccept',
      '#CybotCookiebotDialogBodyLevelButtonAccept',
    ],
  },
  {
    name: 'Didomi',
    shown: ['#didomi-notice', '#didomi-popup', '#didomi-consent-popup'],
    reject: ['#didomi-notice-disagree-button', '.didomi-continue-without-agreeing'],
    settings: [],
    accept: ['#didomi-notice-agree-button'],
  },
  {
    name: 'Quantcast',
    shown: ['#qc-cmp2-ui', '.qc-cmp2-container'],
    reject: ['#disagree-btn', ['.qc-cmp2-summary-buttons button', NO], ['.qc-cmp2-header-links button', NO], ['.qc-cmp2-footer button', NO]],
    settings: ['#more-options-btn', ['.qc-cmp2-summary-buttons button', MORE]],
    accept: ['#accept-btn', ['.qc-cmp2-summary-buttons button', YES], ['.qc-cmp2-footer button', YES]],
  },
  {
    name: 'TrustArc',
    shown: ['#truste-consent-track', '#truste-consent-content', '.pdynamicbutton', '.truste_popframe'],
    reject: ['#truste-consent-required', '.pdynamicbutton .rejectAll', '.pdynamicbutton .required', '.declineAllButtonLower'],
    settings: ['#truste-show-consent'],
    accept: ['#truste-consent-button', '.pdynamicbutton .call', '.acceptAllButtonLower'],
  },
];

// → {dialogs: [{vendor, reject, settings, accept}]}: of each vendor whose dialog is shown in this document, the buttons
// that can be seen, each only where it is one.
function consent() {
  const model = refresh();
  const dialogs = [];
  for (const vendor of VENDORS) {
    if (!vendor.shown.some((selector) => seenBy(model, selector, null).length > 0)) continue;
    const dialog = { vendor: vendor.name };
    for (const choice of ['reject', 'settings', 'accept']) {
      const el = onlyButton(model, vendor[choice]);
      if (el) dialog[choice] = describe(el);
    }
    dialogs.push(dialog);
  }
  return { dialogs };
}

function onlyButton(model, selectors) {
  for (const entry of selectors) {
    const [selector, words] = Array.isArray(entry) ? entry : [entry, null];
    const found = seenBy(model, selector, words);
    if (found.length === 1) return found[0];
  }
  return null;
}

function seenBy(model, selector, words) {
  const usable = (el) => hiddenReason(el) === null && !isInert(el) && painted(el);
  return byCss(selector, model).filter((el) => usable(el) && (!words || words.test(innerTextOf(el))));
}
