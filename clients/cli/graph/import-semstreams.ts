import { ENTITY_LIMITS } from '../../../shared/graph/entity.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { type BadLine, changedIn, type ReadItem } from './import-lines.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * Entity states of semstreams as entities: `{id, triples}` with what else its store keeps beside them, one a line, or a
 * JSON list of them; a line may be a triple too, and either may come in a message envelope. Numbers count the items of a
 * list, else lines; those before `from` are skipped.
 */
export async function* readSemstreamsStates(
  lines: AsyncIterable<string>,
  from: number,
): AsyncGenerator<ReadItem | BadLine> {
  let number = 0
  for await (const text of itemTexts(lines)) {
    number += 1
    if (number >= from && text.trim() !== '') yield* readStates(text, number)
  }
}

/** The lines, or where the first one does not stand for itself the items of the list all of them are. */
async function* itemTexts(lines: AsyncIterable<string>): AsyncGenerator<string> {
  const held: string[] = []
  let isList: boolean | undefined
  for await (const line of lines) {
    if (isList === undefined && line.trim() !== '') isList = !isMembers(readJson(line))
    if (isList === true || isList === undefined) held.push(line)
    else yield* [...held.splice(0), line]
  }
  const text = held.join('\n')
  const whole = readJson(text)
  if (Array.isArray(whole)) yield* listItems(text)
  else if (whole !== undefined) yield text
  else yield* held
}

/** The texts of a JSON list's items, as they are written: numbers would change when they are read. */
function* listItems(text: string): Generator<string> {
  let depth = 0
  let start = text.indexOf('[') + 1
  for (const { 0: mark, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},]/g)) {
    depth += DEEPER[mark] ?? 0
    if (depth > 1 || (depth === 1 && mark !== ',')) continue
    const item = text.slice(start, index)
    if (item.trim() !== '') yield item
    start = index + 1
  }
}

const DEEPER: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 }

/** What one text says, usually one entity; `{entities: [..]}` says several. */
function* readStates(text: string, line: number): Generator<ReadItem | BadLine> {
  const changed = changedIn(text, line)
  if (changed !== undefined) return yield changed
  const read = readJson(text)
  const envelope = isEnvelope(read) ? read : undefined
  const told = envelope?.payload ?? (envelope === undefined ? read : undefined)
  const several = isMembers(told) ? told.entities : told
  const states: readonly unknown[] = Array.isArray(several) ? several : [told]
  const holds = envelope === undefined ? '' : `, which its message envelope says is ${typeWords(envelope.type)}`
  for (const state of states) yield readState(state, line, holds)
}

/** A message: what it carries beside what that is called. Without a type it is whatever has such a member. */
function isEnvelope(read: unknown): read is { readonly type: unknown; readonly payload: unknown } {
  return isMembers(read) && Object.hasOwn(read, 'payload') && (isMembers(read.type) || isMembers(read.payload))
}

/** `research.intent.v1`, as a message type is written. */
function typeWords(type: unknown): string {
  const { domain, category, version } = isMembers(type) ? type : {}
  return [domain, category, version].map((part) => (typeof part === 'string' ? part.slice(0, 60) : '?')).join('.')
}

function readState(state: unknown, line: number, holds: string): ReadItem | BadLine {
  const refuse = (seen: string): BadLine => ({
    line,
    code: 'malformed_line',
    message: `An entity state is a JSON object with an id and a list of triples; ${seen}${holds}.`,
  })
  if (!isMembers(state)) return refuse('it is no JSON object')
  const unread = unreadOf(state)
  if (unread !== undefined) return refuse(unread)
  const { id = state.entity_id, entity_id: _, triples, ...rest } = without(state, OF_THE_STORE)
  const bytes = Buffer.byteLength(JSON.stringify(state))
  if (id === undefined && state.subject !== undefined) return tripleItem(state, line, bytes)
  if (id === undefined) return refuse('it has neither an id nor a subject')
  if (triples !== undefined && !Array.isArray(triples)) return refuse('its triples are no list')
  const stated = (triples ?? []).flatMap((triple) => statements(triple, id))
  const value = { ...rest, ...described(stated), entity_id: id, triples: stated }
  return { kind: 'entities', item: { line, ...(typeof id === 'string' && { id }), value }, bytes }
}

/** What says something the graph would have to leave out silently, or say otherwise: with what to write instead. */
function unreadOf(state: Members): string | undefined {
  const says = (name: string) => (state[name] ?? '') !== ''
  if (says('node') || says('edges'))
    return 'it has the members node and edges of an older form: write the id of the node as id, and what both say as triples'
  if (says('properties') || says('entity_type'))
    return 'it has properties instead: write each as a triple, its predicate being entity_type and the name of the property'
  const triples: readonly unknown[] = Array.isArray(state.triples) ? state.triples : [state]
  const at = triples.findIndex((triple) => isMembers(triple) && (triple.expires_at ?? '') !== '')
  if (at === -1) return undefined
  const which = Array.isArray(state.triples) ? `its triple ${at + 1}` : 'it'
  return `${which} has expires_at, and the graph keeps no statement that ends: leave the triple out, or its expires_at`
}

/** A triple alone is added to its subject; several objects are several statements, which a line cannot be. */
function tripleItem(state: Members, line: number, bytes: number): ReadItem | BadLine {
  const [value, ...more] = statements(state, state.subject)
  if (isMembers(value) && more.length === 0) {
    const { subject } = value
    return { kind: 'triples', item: { line, ...(typeof subject === 'string' && { id: subject }), value }, bytes }
  }
  const message = 'A triple of its own has one object: write its list as several triples, or into its entity.'
  return { line, code: 'malformed_line', message }
}

/** What the store of semstreams keeps beside the statements: the graph has no place for it. */
const OF_THE_STORE = ['storage_ref', 'object_ref', 'message_type', 'version', 'updated_at']

/** One triple as statements: a list is one each, an object its JSON as text. What is wrong with it the server says. */
function statements(triple: unknown, subject: unknown): readonly unknown[] {
  if (!isMembers(triple)) return [triple]
  const { object, ...rest } = without(triple, [])
  const objects: readonly unknown[] = Array.isArray(object) ? object : [object]
  return objects.map((one) => ({ subject, ...literal(one), ...rest }))
}

function literal(object: unknown): Members {
  if (!isMembers(object) && !Array.isArray(object)) return object === undefined ? {} : { object }
  return { datatype: 'json', object: canonicalJson(object as Json) }
}

/** Names and place, where statements say them: an entity is found by these. What a model wrote is no name. */
function described(stated: readonly unknown[]): Members {
  const said = stated.filter(isMembers).filter(({ rule_opaque }) => rule_opaque !== true)
  const find = (name: string, fits: (object: unknown) => boolean) =>
    said.find(({ predicate, object }) => String(predicate).endsWith(`.${name}`) && fits(object))?.object
  const label = ['label', 'title', 'name'].map((name) => find(name, isName)).find((text) => text !== undefined)
  const [lat, lon] = [find('latitude', within(90)), find('longitude', within(180))]
  return {
    ...(label !== undefined && { label }),
    ...(lat !== undefined && lon !== undefined && { geo: { lat, lon } }),
  }
}

function isName(object: unknown): boolean {
  return typeof object === 'string' && object.trim() !== '' && object.length <= ENTITY_LIMITS.label_characters
}

function within(most: number): (object: unknown) => boolean {
  return (object) => typeof object === 'number' && Math.abs(object) <= most
}

/** Without members of these names, and without those that are null or empty: they say nothing. */
function without(members: Members, names: readonly string[]): Members {
  const left = Object.entries(members).filter(
    ([name, value]) => !names.includes(name) && (name === 'object' || (value !== null && value !== '')),
  )
  return Object.fromEntries(left)
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
