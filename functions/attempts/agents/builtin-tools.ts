import { formatOfEnding } from '../../../shared/dag/handlers.ts'
import { Fault } from '../../../shared/errors.ts'
import { type Entity, entityTime, entityType } from '../../../shared/graph/entity.ts'
import type { SearchHit } from '../../../shared/graph/search-index.ts'
import type { Triple } from '../../../shared/graph/triple.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import type { ArtifactItem } from '../../../shared/runs/run-store-items.ts'
import { decodeText } from '../../../shared/text/encodings.ts'
import type { Json } from '../../../shared/text/json.ts'
import { issueProblems } from '../../../shared/text/schema-issues.ts'
import { didYouMean, listed, quoted, suggest } from '../../../shared/text/wording.ts'
import {
  BUILTIN_ARGUMENTS,
  type BuiltinAnswer,
  type BuiltinArguments,
  type BuiltinName,
} from '../../../shared/tools/builtin-tools.ts'
import type { World } from '../../../shared/world.ts'
import { mediaType } from '../handlers/store-artifact.ts'
import { queryTable } from './table-query.ts'

/** Tools of ours that are done at once; a person's answer is waited for by the call's attempt. */
export type CalledBuiltin = Exclude<BuiltinName, 'ask_person'>

/** Whose call it is. */
export interface BuiltinCall {
  readonly world: Pick<World, 'runs' | 'objects' | 'graph' | 'search' | 'isolate'>
  readonly run: RunKey
  /** Of the agent's block. */
  inputs(): Promise<Readonly<Record<string, Json>>>
  readonly block_id: string
  readonly epoch: number
  readonly attempt: number
  readonly item?: number | undefined
  readonly signal: AbortSignal
  /** The agent that calls had read what others wrote. */
  readonly tainted: boolean
  /** Whether one that had wrote this file. */
  isTainted(file: ArtifactItem): Promise<boolean>
}

/**
 * Does what a tool of ours is for, with arguments as a model wrote them. What is wrong with them, or with what they name,
 * is Fault InvalidInput or NotFound in words the model can mend them by.
 */
export async function callBuiltin(
  name: CalledBuiltin,
  args: Readonly<Record<string, Json>>,
  call: BuiltinCall,
): Promise<BuiltinAnswer> {
  call.signal.throwIfAborted()
  switch (name) {
    case 'graph.search':
      return searchGraph(judged(name, args), call)
    case 'graph.read':
      return readEntity(judged(name, args), call)
    case 'artifact.read':
      return readArtifact(judged(name, args), call)
    case 'artifact.write':
      return writeArtifact(judged(name, args), call)
    case 'table.query':
      return queryOwnTable(judged(name, args), call)
  }
}

function judged<N extends BuiltinName>(name: N, args: Readonly<Record<string, Json>>): BuiltinArguments<N> {
  const schema = BUILTIN_ARGUMENTS[name]
  const parsed = schema.safeParse(args)
  // The table's value for N is the schema its arguments are inferred from; TypeScript does not correlate the two.
  if (parsed.success) return parsed.data as BuiltinArguments<N>
  const problems = parsed.error.issues.slice(0, 5).flatMap((issue) => issueProblems(issue, [], args, schema))
  const words = problems.map(({ path, say }) => {
    const { text, hint } = say({ who: 'the call', place: quoted(path.join('.')) })
    return hint === undefined ? text : `${text} (${hint})`
  })
  throw new Fault('InvalidInput', 'tool_arguments', `Cannot call "${name}": ${words.join('; ')}.`)
}

async function searchGraph(
  { query, type, domain, limit }: BuiltinArguments<'graph.search'>,
  { world, run }: BuiltinCall,
): Promise<BuiltinAnswer> {
  const filter = {
    ...(type === undefined ? {} : { type: type.toLowerCase() }),
    ...(domain === undefined ? {} : { domain }),
  }
  const { hits, as_of } = await world.search.search(run.tenant, { text: query, filter, limit })
  const structured = { hits: hits.map(hitOf), ...(as_of === undefined ? {} : { as_of }) }
  if (hits.length === 0) return { text: `Nothing in the graph fits ${quoted(query)}.`, structured }
  return { text: hits.map((hit, at) => `${at + 1}. ${hitWords(hit)}`).join('\n'), structured }
}

function hitOf({ entity_id, label, type, score, snippet_text, objectstore_ref, time }: SearchHit): Json {
  return {
    id: entity_id,
    ...(label === undefined ? {} : { label }),
    type,
    score,
    ...(snippet_text === undefined ? {} : { passage: snippet_text }),
    ...(objectstore_ref === undefined ? {} : { ref: objectstore_ref }),
    ...(time === undefined ? {} : { time }),
  }
}

function hitWords({ entity_id, label, type, snippet_text, time }: SearchHit): string {
  const named = label === undefined ? '' : `${label} `
  const dated = time === undefined ? '' : `, ${time}`
  return `${named}(${type}${dated}) id: ${entity_id}${snippet_text === undefined ? '' : `\n   ${snippet_text}`}`
}

async function readEntity(
  { id, offset, limit }: BuiltinArguments<'graph.read'>,
  { world, run }: BuiltinCall,
): Promise<BuiltinAnswer> {
  const entity = await world.graph.entity(run.tenant, id)
  if (entity === undefined) {
    const message = `Cannot read ${quoted(id)}: the graph has no entity of that id. graph.search finds ids by words.`
    throw new Fault('NotFound', 'unknown_entity', message)
  }
  const { triples = [] } = entity
  const shown = triples.slice(offset, offset + limit)
  const structured = { ...factsOf(entity), statements: shown.map(statementOf), total_statements: triples.length }
  const lines = [entityWords(entity), ...shown.map(statementWords), moreWords(offset, shown.length, triples.length)]
  return { text: lines.filter((line) => line !== '').join('\n'), structured }
}

function factsOf(entity: Entity) {
  const { entity_id, label, aliases, snippet, objectstore_ref, geo } = entity
  const given = { label, aliases, time: entityTime(entity), snippet, ref: objectstore_ref, geo }
  const known = Object.entries(given).filter((entry): entry is [string, Exclude<(typeof entry)[1], undefined>] => {
    return entry[1] !== undefined
  })
  return { id: entity_id, type: entityType(entity), ...Object.fromEntries(known) }
}

function entityWords(entity: Entity): string {
  const { entity_id, label, aliases = [], snippet } = entity
  const time = entityTime(entity)
  return [
    `${label === undefined ? '' : `${label} `}(${entityType(entity)}${time === undefined ? '' : `, ${time}`}) id: ${entity_id}`,
    ...(aliases.length === 0 ? [] : [`also known as ${aliases.join(', ')}`]),
    ...(snippet === undefined ? [] : [snippet]),
  ].join('\n')
}

function statementOf({ predicate, object, source, timestamp, confidence, rule_opaque }: Triple) {
  return { predicate, object, source, timestamp, confidence, ...(rule_opaque ? { written_by_a_model: true } : {}) }
}

function statementWords({ predicate, object, source, timestamp, rule_opaque }: Triple): string {
  const by = rule_opaque ? ', written by a model' : ''
  return `- ${predicate}: ${String(object)} (${source}, ${timestamp}${by})`
}

function moreWords(offset: number, shown: number, total: number): string {
  if (total === 0) return 'Nothing is stated of it.'
  const end = offset + shown
  return end >= total ? '' : `(statements ${offset + 1} to ${end} of ${total}; ask for offset ${end})`
}

async function readArtifact(
  { name, offset, limit }: BuiltinArguments<'artifact.read'>,
  call: BuiltinCall,
): Promise<BuiltinAnswer> {
  const item = await findArtifact(name, call)
  const taint = await taintOf(item, call)
  const bytes = await call.world.objects.get(call.run.tenant, item.ref)
  const decoded = decodeText(bytes)
  if (!('text' in decoded))
    return { text: `[${item.name}: ${item.media_type}, ${item.bytes} bytes, no text]`, ...taint }
  const { text } = decoded
  const part = text.slice(offset, offset + limit).toWellFormed()
  const end = offset + part.length
  if (end >= text.length && offset === 0) return { text: part, ...taint }
  const more = end >= text.length ? 'the end' : `ask for offset ${end}`
  return { text: `${part}\n[characters ${offset} to ${end} of ${text.length}; ${more}]`, ...taint }
}

async function taintOf(item: ArtifactItem, call: BuiltinCall): Promise<Pick<BuiltinAnswer, 'tainted'>> {
  return (await call.isTainted(item)) ? { tainted: true } : {}
}

async function findArtifact(name: string, { world, run }: Pick<BuiltinCall, 'world' | 'run'>): Promise<ArtifactItem> {
  const items = await world.runs.artifacts(run)
  const found = items.find((item) => item.name === name)
  if (found !== undefined) return found
  const names = items.map((item) => item.name)
  const near = didYouMean(suggest(name, names))
  const message = `Cannot read ${quoted(name)}: this run has no file of that name; it has ${listed(names)}.${near === undefined ? '' : ` ${near}`}`
  throw new Fault('NotFound', 'unknown_artifact', message)
}

async function writeArtifact(
  { name, text, media_type }: BuiltinArguments<'artifact.write'>,
  { world, run, block_id, epoch, attempt, item, signal, tainted }: BuiltinCall,
): Promise<BuiltinAnswer> {
  const object = await world.objects.put(run.tenant, new TextEncoder().encode(text))
  signal.throwIfAborted()
  // Its own name, whatever item wrote it: the calls of an agent are one author.
  const place = { ...(epoch === 0 ? {} : { epoch }), ...(item === undefined ? {} : { item }) }
  const passed = { ...place, ...(tainted ? { tainted } : {}) }
  const kept = { name, ...object, media_type: media_type ?? mediaType(name), block_id, attempt, ...passed }
  await world.runs.putArtifact(run, kept)
  return { text: `Wrote ${name}, ${object.bytes} bytes.` }
}

async function queryOwnTable(args: BuiltinArguments<'table.query'>, call: BuiltinCall): Promise<BuiltinAnswer> {
  const { artifact, input, ...question } = args
  if ((artifact === undefined) === (input === undefined)) {
    const seen = artifact === undefined ? 'neither "artifact" nor "input"' : 'both "artifact" and "input"'
    throw new Fault('InvalidInput', 'tool_arguments', `Cannot call "table.query": it names ${seen}; name one.`)
  }
  const name = artifact ?? input ?? ''
  const { source, taint } =
    artifact === undefined ? { source: await inputTable(name, call), taint: {} } : await artifactTable(name, call)
  const format = formatOfEnding(name.slice(name.lastIndexOf('.') + 1).toLowerCase())
  return { ...(await queryTable({ name, source, format }, question, call)), ...taint }
}

async function artifactTable(name: string, call: BuiltinCall) {
  const item = await findArtifact(name, call)
  const source = tableText(name, await call.world.objects.get(call.run.tenant, item.ref))
  return { source, taint: await taintOf(item, call) }
}

async function inputTable(name: string, { inputs: read, world, run }: BuiltinCall): Promise<Json> {
  const inputs = await read()
  const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined
  if (value === undefined || value === null) {
    const message = `Cannot call "table.query": this block has no input ${quoted(name)}; it has ${listed(Object.keys(inputs))}.`
    throw new Fault('InvalidInput', 'tool_arguments', message)
  }
  const isRef = typeof value === 'string' && /^objstore:\/\/[^/\s]+\/[0-9a-f]{64}$/.test(value)
  return isRef ? tableText(name, await world.objects.get(run.tenant, value)) : value
}

function tableText(name: string, bytes: Uint8Array): string {
  const decoded = decodeText(bytes)
  if ('text' in decoded) return decoded.text
  throw new Fault('InvalidInput', 'table_query_failed', `Cannot read ${quoted(name)} as a table: ${decoded.problem}`)
}
