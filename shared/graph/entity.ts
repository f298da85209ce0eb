import * as z from 'zod'
import { Fault, type Issue } from '../errors.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import { refuseEntityId } from './entity-id.ts'
import { markOpaqueProse, readableTriples } from './opaque-triples.ts'
import { isEdge, type Triple, TripleSchema } from './triple.ts'

/** What one entity may hold. It is one item of the table, which ends at 400 KB. */
export const ENTITY_LIMITS = {
  /** Statements, edges among them; what has more members than this states it from their side. */
  triples: 1_000,
  aliases: 50,
  label_characters: 500,
  snippet_characters: 2_000,
  object_characters: 4_000,
  /** Of the entity as JSON. */
  json_bytes: 204_800,
} as const

const ID = z.string().superRefine((text, context) => {
  const refusal = refuseEntityId(text)
  if (refusal !== undefined) context.addIssue({ code: 'custom', message: refusal.message })
})

const NAME = z
  .string()
  .max(ENTITY_LIMITS.label_characters)
  .refine((text) => text.trim() !== '', 'A name is not blank.')

/** An entity as it is put and as it is answered: the whole of it, so that putting replaces it. */
export const EntitySchema = z.strictObject({
  entity_id: ID,
  label: NAME.optional(),
  /** Further names it is known by. */
  aliases: z.array(NAME).max(ENTITY_LIMITS.aliases).optional(),
  /** Absent: the fifth segment of the id. */
  type: NAME.optional(),
  /** A short preview, searched and shown. */
  snippet: z.string().max(ENTITY_LIMITS.snippet_characters).optional(),
  /** Its body in the object store: its text is searched in passages. */
  objectstore_ref: z
    .string()
    .regex(/^objstore:\/\/[^/]+\/[0-9a-f]{64}$/, 'A ref is objstore://<tenant>/<64 hex digits of sha256>.')
    .optional(),
  /** When it happened or was last true; absent: its newest triple's. */
  time: z.iso.datetime({ offset: true }).optional(),
  /** Degrees. */
  geo: z.strictObject({ lat: z.number().min(-90).max(90), lon: z.number().min(-180).max(180) }).optional(),
  /** Each has the entity for its subject. */
  triples: z.array(TripleSchema).max(ENTITY_LIMITS.triples).optional(),
})

export type Entity = z.infer<typeof EntitySchema>

/** A statement whose object is an entity. Reads as `subject predicate object`. */
export interface Edge {
  readonly subject: string
  readonly predicate: string
  readonly object: string
}

/** The edges an entity states, each once, by predicate and object. An opaque triple is none: a model wrote it. */
export function entityEdges({ entity_id, triples = [] }: Entity): readonly Edge[] {
  const edges = new Map<string, Edge>()
  for (const triple of readableTriples(triples)) {
    if (!isEdge(triple)) continue
    const edge = { subject: entity_id, predicate: triple.predicate, object: String(triple.object) }
    edges.set(`${edge.predicate}#${edge.object}`, edge)
  }
  return [...edges].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, edge]) => edge)
}

/** When an entity happened or was last stated, ISO: its own time, else its newest triple's. */
export function entityTime({ time, triples = [] }: Entity): string | undefined {
  if (time !== undefined) return time
  const times = triples.map(({ timestamp }) => Date.parse(timestamp))
  return times.length === 0 ? undefined : new Date(Math.max(...times)).toISOString()
}

/** What an entity is: its own word, else the fifth segment of its id. */
export function entityType({ entity_id, type }: Pick<Entity, 'entity_id' | 'type'>): string {
  return type ?? entity_id.split('.')[4] ?? ''
}

/** Whether an entity only says which files of a collection are imported (clients/cli/graph/import-files.ts): nobody looks for it. */
export function isFileList(entity_id: string): boolean {
  return /^local\.files\.docs\.[^.]+\.file-list\.part-\d+$/.test(entity_id)
}

/** Issues told of one bad entity: zod's may be as many as it has triples. */
const MOST_ISSUES = 10

/**
 * One item of an import: the entity as stores keep it, or what is wrong with it. `entity_id` where one could be read,
 * so that a result names its item.
 */
export function readEntity(
  value: unknown,
): { readonly entity: Entity } | { readonly entity_id?: string; readonly issues: readonly Issue[] } {
  const parsed = EntitySchema.safeParse(value)
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, MOST_ISSUES)
    return { ...idOf(value), issues: issues.map(({ path, message }) => ({ path: path.join('.'), message })) }
  }
  const entity = normalEntity(parsed.data)
  const issues = [...strangers(parsed.data), ...tooLong(parsed.data), ...tooLarge(entity)]
  return issues.length === 0 ? { entity } : { ...idOf(value), issues: issues.slice(0, MOST_ISSUES) }
}

function idOf(value: unknown): { readonly entity_id?: string } {
  const id = EntitySchema.pick({ entity_id: true }).loose().safeParse(value)
  return id.success ? { entity_id: id.data.entity_id } : {}
}

function strangers({ entity_id, triples = [] }: Entity): readonly Issue[] {
  return triples.flatMap(({ subject }, at) => {
    const message = 'The subject of a triple is the entity it stands in.'
    return subject === entity_id ? [] : [{ path: `triples.${at}.subject`, message }]
  })
}

function tooLong({ triples = [] }: Entity): readonly Issue[] {
  const most = ENTITY_LIMITS.object_characters
  return triples.flatMap(({ object }, at) => {
    if (typeof object !== 'string' || object.length <= most) return []
    const message = `It has ${object.length} characters, at most ${most} are allowed: store it as an object and name its ref.`
    return [{ path: `triples.${at}.object`, message }]
  })
}

function tooLarge(entity: Entity): readonly Issue[] {
  const bytes = Buffer.byteLength(canonicalJson(entity))
  const most = ENTITY_LIMITS.json_bytes
  if (bytes <= most) return []
  const message = `The entity has ${bytes} bytes of JSON, at most ${most} are allowed: store large texts as objects.`
  return [{ path: '', message }]
}

/** Issues told of one bad triple. */
const TRIPLE_ISSUES = 10

/** One triple of a call, or what is wrong with it; `id` is its subject, where one could be read. */
export function readTriple(value: unknown): {
  readonly id?: string
  readonly item?: Triple
  readonly issues?: readonly Issue[]
} {
  const parsed = TripleSchema.safeParse(value)
  if (!parsed.success) {
    const subject = TripleSchema.pick({ subject: true }).loose().safeParse(value)
    const issues = parsed.error.issues.slice(0, TRIPLE_ISSUES)
    return {
      ...(subject.success ? { id: subject.data.subject } : {}),
      issues: issues.map(({ path, message }) => ({ path: path.join('.'), message })),
    }
  }
  const { subject, object } = parsed.data
  const most = ENTITY_LIMITS.object_characters
  if (typeof object !== 'string' || object.length <= most) return { id: subject, item: parsed.data }
  const message = `It has ${object.length} characters, at most ${most} are allowed: store it as an object and name its ref.`
  return { id: subject, issues: [{ path: 'object', message }] }
}

/**
 * The one form of an entity: no empty lists, no statement twice, triples in order. Two that say the same are the same
 * text, so that importing again changes nothing.
 */
export function normalEntity({ aliases = [], triples = [], ...rest }: Entity): Entity {
  const names = [...new Set(aliases.map((alias) => alias.trim()))].toSorted()
  const stated = mergeTriples([], triples)
  return {
    ...rest,
    ...(names.length === 0 ? {} : { aliases: names }),
    ...(stated.length === 0 ? {} : { triples: [...stated] }),
  }
}

/** What is stated after `added` was said too: the same statement of the same source is replaced. */
function mergeTriples(stated: readonly Triple[], added: readonly Triple[]): readonly Triple[] {
  const byStatement = new Map([...stated, ...added].map((triple) => [statementOf(triple), markOpaqueProse(triple)]))
  return [...byStatement].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, triple]) => triple)
}

/** Tells one version of an entity from another; `entity` in its normal form. */
export function entityHash(entity: Entity): string {
  return sha256(canonicalJson(entity))
}

/** Sorts by predicate, then object, then source. */
function statementOf({ predicate, object, source }: Triple): string {
  return JSON.stringify([predicate, object, source])
}

/** The entity with more statements, in its normal form; Fault LimitExceeded entity_too_large. */
export function withTriples(entity: Entity, added: readonly Triple[]): Entity {
  const read = readEntity({ ...entity, triples: mergeTriples(entity.triples ?? [], added) })
  if ('entity' in read) return read.entity
  const message = `Cannot add ${added.length} triples to an entity: ${read.issues[0]?.message}`
  throw new Fault('LimitExceeded', 'entity_too_large', message)
}

/** Triples by what they are about, in the order each subject first comes. */
export function groupBySubject(triples: readonly Triple[]): ReadonlyMap<string, readonly Triple[]> {
  const subjects = new Map<string, Triple[]>()
  for (const triple of triples) {
    const known = subjects.get(triple.subject)
    if (known === undefined) subjects.set(triple.subject, [triple])
    else known.push(triple)
  }
  return subjects
}
