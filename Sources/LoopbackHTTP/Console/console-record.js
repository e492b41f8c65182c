// One record: its fields, its files, and its deletion.

function showRecord({place, found, error}, fresh) {
  const here = zonePlace(place);
  const [record] = found.records;
  // A share shows the accounts that there are.
  const accounts = record && record.recordType === shareType ? state.accounts : null;
  const rows = record ? [{record, place: here, accounts, keys: state.keys}] : [];
  const view = at('recordView');
  view.dataset.none = error ? '' : 'There is no record with the name ' + place.record + ' here.';
  fill(view, rows, row => address({...here, record: row.record.recordName}),
    row => buildRecord(row, fresh.has(row.record.recordName)));
}

function buildRecord({record, place}, fresh) {
  const when = stamp => stamp && stamp.timestamp !== undefined
    ? [clock(stamp.timestamp), ' by ', nameOf(userLabel(stamp.userRecordName)),
      ...stamp.deviceID ? [' on ', nameOf(stamp.deviceID)] : []] : ['unknown'];
  const fields = Object.entries(record.fields).map(([name, field]) => make('div', {},
    make('dt', {}, nameOf(name)),
    make('dd', {}, buildValue(place, record, name, field),
      span('kind', typeWords(typeOf(record.recordType, name, field))
        + (field.isEncrypted ? ', encrypted' : '')))));
  const links = [['parent', record.parent], ['share', record.share]]
    .filter(([, target]) => target)
    .map(([name, target]) => make('span', {class: 'tag'}, name + ' ', linkTo(place, target)));
  return make('article', {class: 'record' + (fresh ? ' fresh' : '')},
    make('div', {}, make('h3', {}, nameOf(record.recordName)),
      span('dim', record.recordType), ...links),
    fields.length ? make('dl', {class: 'fields'}, ...fields)
      : record.recordType === shareType ? null : make('p', {class: 'dim'}, 'No fields.'),
    make('p', {class: 'dim meta'}, 'modified ', ...when(record.modified), ' · created ',
      ...when(record.created), ' · tag ' + record.recordChangeTag),
    record.recordType === shareType ? buildShare(place, record) : null,
    make('div', {class: 'row'},
      button('Edit', 'edit', {class: 'strong'}, () => openForm(place, record)),
      place.scope === 'private' && !record.share && record.recordType !== shareType
        ? button('Share', 'share', {}, () => share(place, record)) : null,
      button('Delete', 'delete', {class: 'risky'}, () => remove(place, record))));
}

// A link to a record that another one names.
function linkTo(place, target) {
  const zone = target.zoneID || {};
  const there = {...place, record: target.recordName, zone: zone.zoneName || place.zone,
    owner: place.scope === 'shared' ? zone.ownerRecordName || place.owner : ''};
  return make('a', {href: address(there), 'data-name': 'follow ' + target.recordName},
    nameOf(target.recordName));
}

function buildValue(place, record, name, {value, type}) {
  const inner = type.replace(/_LIST$/, '');
  const isList = Array.isArray(value);
  if (inner === 'REFERENCE') {
    return make('div', {class: 'value'}, ...[value].flat().map(one => make('div', {}, '→ ',
      linkTo(place, one), one.action === 'DELETE_SELF' ? span('dim', '  owned') : null)));
  }
  if (inner === 'ASSETID') {
    return make('div', {class: 'value'}, ...[value].flat().map((one, index) =>
      buildFile(place, record, name, isList ? index : null, one)));
  }
  const text = plain(value, type);
  const long = text.length > 600 || text.split('\n').length > 9;
  return make('bdi', {class: 'value', tabindex: long && '0'}, text);
}

// A file is loaded when it is asked for: that is a request of the account.
function buildFile(place, record, name, index, asset) {
  const preview = make('div', {class: 'preview'});
  const label = name + (index === null ? '' : ', item ' + (index + 1));
  const load = action => async () => {
    preview.replaceChildren();
    try {
      const answer = await serve(place, 'records/lookup', {zoneID: zoneOf(place),
        records: [{recordName: record.recordName}], desiredKeys: [name]});
      const [found] = answer.records;
      if (found.serverErrorCode) throw refusal(found, 400);
      const {value} = own(found.fields, name) || {};
      const {downloadURL} = index === null ? value : value[index];
      const {pathname, search} = new URL(downloadURL);
      const file = await fetch(pathname + search, {credentials: 'omit'});
      if (!file.ok) throw refusal(await file.json().catch(() => ({})), file.status);
      await action(await file.blob());
    } catch (error) {
      preview.replaceChildren(make('p', {role: 'alert'}, error.message));
    }
  };
  return make('div', {},
    make('div', {class: 'row'}, plain(asset, 'ASSETID'),
      button('Show', 'show ' + label, {'aria-label': 'Show ' + label}, load(async blob =>
        preview.replaceChildren(await buildPreview(blob)))),
      button('Download', 'download ' + label, {'aria-label': 'Download ' + label},
        load(async blob => download(blob, record.recordName + '-' + name)))),
    preview);
}

const pictures = [
  ['image/png', [0x89, 0x50, 0x4E, 0x47]], ['image/jpeg', [0xFF, 0xD8, 0xFF]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
];

// A picture as one, a text as one, and else the size. The policy allows pictures from data only.
async function buildPreview(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const picture = pictures.find(([, first]) => first.every((byte, at) => bytes[at] === byte));
  if (picture) {
    let text = '';
    for (const byte of bytes) text += String.fromCharCode(byte);
    return make('img', {alt: 'Picture of ' + size(bytes.length),
      src: 'data:' + picture[0] + ';base64,' + btoa(text)});
  }
  try {
    const most = 20_000;
    // What is cut may end within a character.
    const text = new TextDecoder('utf-8', {fatal: true})
      .decode(bytes.slice(0, most), {stream: bytes.length > most});
    if (!/[\0-\x08\x0e-\x1f]/.test(text)) return make('pre', {tabindex: '0', dir: 'auto'}, text);
  } catch { /* It is no text. */ }
  return make('p', {class: 'dim'}, size(bytes.length) + ' that are neither text nor a picture');
}

function download(blob, name) {
  const target = URL.createObjectURL(blob);
  make('a', {href: target, download: name}).click();
  URL.revokeObjectURL(target);
}

// Asks in the page, not in a window of the browser.
function sure(question, label) {
  return new Promise(done => {
    const dialog = make('dialog', {'aria-label': question}, make('form', {method: 'dialog'},
      make('p', {}, question),
      make('div', {class: 'row'}, make('button', {class: 'risky', value: 'yes'}, label),
        make('button', {autofocus: true, value: ''}, 'Cancel'))));
    dialog.addEventListener('close', () => {
      dialog.remove();
      done(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

async function remove(place, record) {
  if (!await sure('Delete the record “' + record.recordName + '”?', 'Delete record')) return;
  const {recordName, recordChangeTag} = record;
  const {hash} = location;
  clearErrors();
  try {
    await modify(place, 'delete', {recordName, recordChangeTag});
    goFrom(hash, place);
  } catch (error) {
    at('actionWrong').textContent = error.message;
  }
}
