'use strict';
// The token and the requests.

const base = '/cloudsync/1/';
const key = 'cloudsync-control-token';
const at = id => document.getElementById(id);
// A member that an object has itself: a field may be called `constructor`.
const own = (object, name) => Object.hasOwn(object, name) ? object[name] : undefined;
let token = '';

class Refused extends Error {
  constructor(status, reason, code) { super(reason); Object.assign(this, {status, code}); }
}

class Unreachable extends Error {}

// Whether the server as a whole refuses: its services give their errors a code.
const isOutage = error => error instanceof Refused && !error.code
  && (error.status >= 500 || error.status === 429);

// A number as it was typed.
class Literal {
  constructor(text) { this.text = text; }
}

function encode(value) {
  if (value instanceof Literal) return value.text;
  if (Array.isArray(value)) return '[' + value.map(encode).join(',') + ']';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).filter(([, one]) => one !== undefined);
  return '{' + members.map(([name, one]) => JSON.stringify(name) + ':' + encode(one)).join(',')
    + '}';
}

// The error of a request without a whole answer, if the page did not end it itself.
const cutOff = error =>
  error.name === 'AbortError' ? error : new Unreachable('The server does not answer.');

// Sends a request, and returns the answer with its JSON.
async function exchange(address, options) {
  const answer = await fetch(address, {cache: 'no-store', credentials: 'omit', ...options})
    .catch(error => { throw cutOff(error); });
  const json = await answer.json().catch(error => {
    throw error instanceof SyntaxError ? new Refused(answer.status, 'no answer in JSON')
      : cutOff(error);
  });
  return [answer, json];
}

async function ask(path, query, body, signal) {
  const given = Object.entries(query || {}).filter(([, value]) => value !== undefined);
  const parts = given.map(pair => pair.map(encodeURIComponent).join('='));
  const options = {headers: {authorization: 'Bearer ' + token}, signal};
  if (body) {
    options.method = 'POST';
    options.headers['content-type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  const used = token;
  const [answer, json] = await exchange(
    base + path + (parts.length ? '?' + parts.join('&') : ''), options);
  if (used !== token) throw new DOMException('The token was forgotten.', 'AbortError');
  if (!answer.ok) throw new Refused(answer.status, json.reason || 'status ' + answer.status);
  return json;
}

// Requests of an account to the web services, as of a device called "console".

const sessions = new Map();

// Signs an account in, and adds it if there is none of this name.
async function signIn(account) {
  const session = await ask('sign-in', null, {account});
  sessions.set(account, session);
  return session;
}

// An address may name any account: looking at it adds none.
async function session(account) {
  if (sessions.has(account)) return sessions.get(account);
  const {accounts} = await ask('accounts');
  if (accounts.some(one => one.account === account)) return signIn(account);
  throw new Refused(404, 'There is no account “' + account + '”.');
}

// The account that a request for a place is sent by: the named one, the owner of the database, or
// the chosen one.
function actor(place) {
  return place.as || (place.scope !== 'public' && place.account) || state.acting;
}

async function serve(place, operation, body, signal) {
  const account = actor(place);
  if (!account) throw new Refused(400, 'There is no account to act as; add one.');
  const isKept = sessions.has(account);
  const {webAuthToken, apiToken} = await session(account);
  const path = ['/database/1', place.container, place.environment, place.scope]
    .map((part, index) => index ? encodeURIComponent(part) : part).join('/') + '/' + operation;
  const tokens = new URLSearchParams(
    {ckAPIToken: apiToken, ckWebAuthToken: webAuthToken, clientId: ownDevice});
  const [answer, json] = await exchange(path + '?' + tokens, {
    method: 'POST', body: encode(body), headers: {'content-type': 'application/json'}, signal,
  });
  // An import or a reset changes the tokens.
  if ([401, 421].includes(answer.status) && isKept) {
    sessions.delete(account);
    return serve(place, operation, body, signal);
  }
  if (!answer.ok) throw refusal(json, answer.status);
  return json;
}

// The server's own words, with its code. The status is not that of the control token.
function refusal(json, status) {
  const code = json.serverErrorCode ? ' (' + json.serverErrorCode + ')' : '';
  return new Refused(status === 401 ? 421 : status, (json.reason || 'status ' + status) + code,
    json.serverErrorCode);
}

const ownDevice = 'console';

// The token in the fragment, if there is one. The server and the browser encode some characters.
function givenToken() {
  const [, text] = /^#token=(.*)$/.exec(location.hash) || [];
  return text && text.replace(/%[0-9a-f]{2}/gi,
    code => String.fromCharCode(parseInt(code.slice(1), 16)));
}

// The fragment never leaves the browser; once read it leaves the address bar too.
function takeToken() {
  const given = givenToken();
  if (given !== undefined) {
    history.replaceState(null, '', location.pathname);
    sessionStorage.setItem(key, given);
  }
  token = sessionStorage.getItem(key) || '';
}

function live(state, text) {
  const place = at('live');
  if (place.dataset.state === state && place.textContent === text) return;
  place.dataset.state = state;
  place.textContent = text;
}

// Elements, lists that keep what did not change, and values as text.

function make(tag, settings, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(settings || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'on') element.addEventListener(value[0], value[1]);
    else if (name === 'class') element.className = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter(child => child !== undefined && child !== null)
    .flatMap(child => typeof child === 'string' ? visible(child) : [child]));
  return element;
}

const span = (kind, text) => make('span', {class: kind}, text);

// Elements of unchanged items are kept, and with them focus and scroll position.
function fill(parent, items, name, build) {
  const old = new Map([...parent.children].map(node => [node.itemName, node]));
  const focused = document.activeElement;
  const focusName = focused && parent.contains(focused) ? focused.dataset.name : undefined;
  let next = parent.firstElementChild;
  for (const item of items) {
    const itemName = name(item);
    const mark = JSON.stringify(item);
    let node = old.get(itemName);
    old.delete(itemName);
    if (!node || node.itemMark !== mark) {
      const fresh = build(item, node);
      Object.assign(fresh, {itemName, itemMark: mark});
      if (node) {
        if (next === node) next = fresh;
        node.replaceWith(fresh);
      }
      node = fresh;
    }
    if (node === next) next = next.nextElementSibling;
    else parent.insertBefore(node, next);
  }
  for (const node of old.values()) node.remove();
  if (focusName && !parent.contains(document.activeElement)) {
    const again = [...parent.querySelectorAll('[data-name]')]
      .find(node => node.dataset.name === focusName);
    if (again) again.focus();
  }
}

function size(bytes) {
  if (bytes < 1000) return bytes + ' B';
  if (bytes < 1e6) return (bytes / 1e3).toFixed(1) + ' kB';
  return (bytes / 1e6).toFixed(1) + ' MB';
}

const two = number => String(number).padStart(2, '0');

function clock(milliseconds) {
  const date = new Date(Number(milliseconds));
  if (isNaN(date)) return make('span', {}, String(milliseconds));
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const today = new Date().toDateString() === date.toDateString();
  return make(
    'time', {datetime: date.toISOString(), title: day + ' ' + time},
    today ? time : day + ' ' + time);
}

function plain(value, type) {
  if (value === null || value === undefined) return 'not a number';
  if (Array.isArray(value)) {
    const inner = type.replace(/_LIST$/, '');
    return value.length ? value.map(one => plain(one, inner)).join('\n') : 'empty list';
  }
  switch (type) {
  case 'TIMESTAMP': {
    const date = new Date(Number(value));
    return isNaN(date) ? String(value) : date.toISOString().replace('T', ' ');
  }
  case 'BYTES': {
    const length = value.length / 4 * 3 - (value.match(/=*$/)[0].length);
    return size(length) + '  ' + value.slice(0, 96) + (value.length > 96 ? '…' : '');
  }
  case 'REFERENCE':
    return '→ ' + value.recordName + (value.action === 'DELETE_SELF' ? '  (owned)' : '');
  case 'ASSETID':
    return 'file of ' + size(Number(value.size) || 0) + '  '
      + (value.fileChecksum || '').slice(0, 12);
  case 'LOCATION': return value.latitude + ', ' + value.longitude;
  default: return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
}

function cut(text, most) {
  return text.length > most ? text.slice(0, most) + '…' : text;
}
