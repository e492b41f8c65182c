// Texts from records and requests: characters that can't be seen, or that would turn around the
// text beside them, are shown by their numbers.

const unseen = new RegExp('([\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e'
  + '\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff])');

function markUnseen(words) {
  const mark = document.createElement('span');
  mark.className = 'unseen';
  mark.textContent = words;
  return mark;
}

const codePoint = text =>
  'U+' + text.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

// The text as nodes and strings.
function visible(text) {
  return text.split(unseen).map((part, index) => index % 2 ? markUnseen(codePoint(part)) : part)
    .filter(part => part !== '');
}

// A name, isolated from its neighbours; spaces at its ends are marked.
function nameOf(text) {
  const [, before, middle, after] = /^( *)([^]*?)( *)$/.exec(String(text));
  const spaces = part => part ? markUnseen('␣'.repeat(part.length)) : null;
  return make('bdi', {class: 'exact'}, spaces(before), middle, spaces(after));
}

// The account of a server-to-server key is called by the name of the key.
const keyPrefix = 'server-key-';

function accountLabel(account) {
  if (!account || !account.startsWith(keyPrefix)) return account;
  const id = account.slice(keyPrefix.length);
  const known = state.keys.find(one => one.keyID === id);
  return 'key “' + ((known && known.name) || id.slice(0, 8) + '…') + '”';
}

// The name of the account or key with a user record name.
function userLabel(user) {
  const account = state.accounts.find(one => one.userRecordName === user);
  const owner = state.keys.find(one => one.userRecordName === user);
  return account ? account.account : owner ? accountLabel(keyPrefix + owner.keyID) : user;
}

// An action begins: what an earlier one reported is over. A form keeps its own errors.
function clearErrors() {
  for (const one of document.querySelectorAll('#contents [role=alert]')) {
    if (!one.closest('.card')) one.textContent = '';
  }
}
