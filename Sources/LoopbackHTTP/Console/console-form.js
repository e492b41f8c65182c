// Forms for records: a field of each type, and lists of them.

const fieldTypes = [
  ['STRING', 'text'], ['INT64', 'whole number'], ['DOUBLE', 'number'], ['TIMESTAMP', 'date'],
  ['BYTES', 'bytes'], ['REFERENCE', 'reference'], ['LOCATION', 'location'], ['ASSETID', 'file'],
];
const hints = {
  STRING: '', INT64: '42', DOUBLE: '2.5', TIMESTAMP: '2026-11-23T10:00:00Z',
  BYTES: 'base64, such as 3q2+7w==', REFERENCE: 'name of a record',
  LOCATION: 'latitude, longitude',
};
const numberForm = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;

function typeWords(type) {
  const inner = type.replace(/_LIST$/, '');
  const words = (fieldTypes.find(([name]) => name === inner) || [inner, inner.toLowerCase()])[1];
  return inner === type ? words : 'list: ' + words;
}

// The value that a text stands for. A text that stands for none is sent as it is: the server says
// what is wrong with it.
function typedValue(text, type) {
  const clean = text.trim();
  switch (type) {
  case 'INT64': case 'DOUBLE': return numberForm.test(clean) ? new Literal(clean) : text;
  case 'TIMESTAMP': {
    const time = /^\d{4}-/.test(clean) ? Date.parse(clean.replace(' ', 'T')) : NaN;
    return isNaN(time) ? text : time;
  }
  case 'REFERENCE': return {recordName: clean, action: 'NONE'};
  case 'LOCATION': {
    const [latitude, longitude, ...more] = clean.split(',').map(part => part.trim());
    const good = !more.length && [latitude, longitude].every(part => numberForm.test(part));
    return good ? {latitude: new Literal(latitude), longitude: new Literal(longitude)} : text;
  }
  default: return text;
  }
}

function editedText(value, type) {
  if (value === undefined || value === null) return '';
  if (type === 'TIMESTAMP') return plain(value, type).replace(' ', 'T');
  if (type === 'REFERENCE') return value.recordName;
  if (type === 'LOCATION') return value.latitude + ', ' + value.longitude;
  return String(value);
}

const actions = [['NONE', 'refers'], ['DELETE_SELF', 'is owned'], ['VALIDATE', 'must exist']];

// An input for one value: its element, and a function that returns the value; `upload` is given a
// file and returns what the server calls it.
function valueInput(value, type, label) {
  if (type === 'ASSETID') {
    const input = make('input', {type: 'file', 'aria-label': label});
    const now = value && span('dim', plain(value, type));
    return {
      element: make('div', {class: 'stack'}, now, input),
      read: async upload => input.files.length ? upload(input.files[0]) : value,
      mark: () => [...input.files].map(file => file.name + file.size + file.lastModified),
    };
  }
  const text = editedText(value, type);
  const long = type === 'STRING' && (text.length > 60 || text.includes('\n'));
  const input = make(long || type === 'BYTES' ? 'textarea' : 'input', {
    'aria-label': label, placeholder: hints[type], rows: long ? '5' : type === 'BYTES' && '2',
    autocomplete: 'off', spellcheck: type === 'STRING' ? null : 'false', dir: 'auto',
  });
  input.value = text;
  if (type !== 'REFERENCE') {
    return {element: input, read: async () => typedValue(input.value, type),
      mark: () => input.value};
  }
  const action = make('select', {'aria-label': label + ': what the reference does'},
    ...actions.map(([name, words]) => make('option',
      {value: name, selected: value && value.action === name}, words)));
  return {
    element: make('div', {class: 'pair'}, input, action),
    read: async () => ({...typedValue(input.value, type), action: action.value,
      zoneID: value && value.zoneID}),
    mark: () => [input.value, action.value],
  };
}

function listInput(values, type, label) {
  const inner = type.replace(/_LIST$/, '');
  const rows = [];
  const list = make('ol', {class: 'items'});
  const add = value => {
    const input = valueInput(value, inner, label + ', item ' + (rows.length + 1));
    const row = {input};
    rows.push(row);
    row.line = make('li', {}, input.element, button('Remove', '', {
      'aria-label': 'Remove item ' + rows.length + ' of ' + label,
    }, () => { rows.splice(rows.indexOf(row), 1); row.line.remove(); }));
    list.append(row.line);
    return input;
  };
  for (const value of values || []) add(value);
  const more = button('Add item', '', {'aria-label': 'Add item to ' + label}, () => {
    const {element} = add();
    (element.matches('input, textarea') ? element : element.querySelector('input')).focus();
  });
  return {
    element: make('div', {class: 'stack'}, list, more),
    read: async upload => Promise.all(rows.map(({input}) => input.read(upload))),
    mark: () => rows.map(({input}) => input.mark()),
  };
}

// The form of one field; `mark` tells whether it was changed.
function fieldForm({name, type, value, isEncrypted, isNew}) {
  const input = type.endsWith('_LIST') ? listInput(value, type, name)
    : valueInput(value, type, name);
  const first = JSON.stringify(input.mark());
  const form = {name, type, isEncrypted, isNew, input, isGone: false};
  form.changed = () => isNew || form.isGone || JSON.stringify(input.mark()) !== first;
  const remove = button('Remove', '', {'aria-label': 'Remove field ' + name}, () => {
    form.isGone = !form.isGone;
    form.element.classList.toggle('gone', form.isGone);
    remove.textContent = form.isGone ? 'Keep' : 'Remove';
  });
  form.element = make('div', {class: 'edited'},
    make('div', {class: 'label'}, make('bdi', {}, name),
      span('kind', typeWords(type) + (isEncrypted ? ', encrypted' : ''))),
    input.element, remove);
  return form;
}

function newFieldRow(add) {
  const name = make('input', {'aria-label': 'New field', placeholder: 'new field',
    autocomplete: 'off', spellcheck: 'false'});
  const type = make('select', {'aria-label': 'Type of the new field'},
    ...fieldTypes.map(([value, words]) => make('option', {value}, words)),
    ...fieldTypes.map(([value, words]) => make('option', {value: value + '_LIST'},
      'list: ' + words)));
  const encrypted = make('input', {type: 'checkbox'});
  const go = () => {
    if (!name.value.trim()) { name.focus(); return; }
    add({name: name.value.trim(), type: type.value, isEncrypted: encrypted.checked});
    name.value = '';
    encrypted.checked = false;
  };
  name.addEventListener('keydown', event => {
    if (event.key === 'Enter') { event.preventDefault(); go(); }
  });
  return make('div', {class: 'row'}, name, type,
    make('label', {class: 'check'}, encrypted, 'encrypted'),
    button('Add field', '', {}, go));
}

// Uploads a file for a field, and returns the value of the field.
async function uploadFile(place, record, fieldName, file) {
  const {tokens} = await serve(place, 'assets/upload',
    {tokens: [{recordName: record.recordName, recordType: record.recordType, fieldName}]});
  // Another name of this server would be another site.
  const {pathname, search} = new URL(tokens[0].url);
  const answer = await fetch(pathname + search,
    {method: 'POST', body: file, credentials: 'omit'});
  const json = await answer.json();
  if (!answer.ok) throw refusal(json, answer.status);
  return json.singleFile;
}

// Sends one operation on a record, and returns the record of the answer.
async function modify(place, operationType, record) {
  const zoneID = zoneOf(place);
  const answer = await serve(place, 'records/modify',
    {zoneID, operations: [{operationType, record}]});
  const [result] = answer.records;
  if (result.serverErrorCode) throw refusal(result, 400);
  return result;
}

function recordForm(place, record, types, done) {
  const forms = [];
  const fields = make('div', {});
  const add = (field, focus) => {
    if (forms.some(form => form.name === field.name)) return;
    const form = fieldForm(field);
    forms.push(form);
    fields.append(form.element);
    const first = form.element.querySelector('input, textarea, button');
    if (focus && first) first.focus();
  };
  for (const [name, field] of Object.entries(record ? record.fields : {})) add({name, ...field});
  const type = make('input', {'aria-label': 'Record type', required: true, list: 'types',
    autocomplete: 'off', spellcheck: 'false'});
  const name = make('input', {'aria-label': 'Record name', autocomplete: 'off',
    spellcheck: 'false', placeholder: 'made by the server'});
  const wrong = make('p', {role: 'alert'});
  const save = make('button', {class: 'strong'}, record ? 'Save' : 'Create');
  const head = record ? null : make('div', {},
    make('div', {class: 'edited'}, make('div', {class: 'label'}, 'Record type'), type),
    make('div', {class: 'edited'}, make('div', {class: 'label'}, 'Record name'), name),
    make('datalist', {id: 'types'}, ...types.map(value => make('option', {value}))));
  const form = make('form', {class: 'card', 'aria-label': record ? 'Edit record' : 'New record'},
    head, fields, newFieldRow(field => add({...field, isNew: true}, true)), wrong,
    make('div', {class: 'row'}, save, button('Cancel', '', {}, () => done(null)),
      span('dim', 'as ' + (actor(place) || 'nobody'))));
  form.addEventListener('submit', async event => {
    event.preventDefault();
    wrong.textContent = '';
    save.disabled = true;
    const known = record || {recordName: name.value || undefined, recordType: type.value};
    try {
      const changed = {};
      for (const one of forms.filter(one => one.changed())) {
        if (one.isGone && one.isNew) continue;
        const value = one.isGone ? null
          : await one.input.read(file => uploadFile(place, known, one.name, file));
        changed[one.name] = {value, type: one.type, isEncrypted: one.isEncrypted || undefined};
      }
      const {recordName, recordType, recordChangeTag} = known;
      done(await modify(place, record ? 'update' : 'create',
        {recordName, recordType, recordChangeTag, fields: changed}));
    } catch (error) {
      wrong.textContent = error.message;
    } finally {
      save.disabled = false;
    }
  });
  return form;
}
