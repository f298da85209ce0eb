import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Fault } from '../../shared/errors.ts'
import type { GraphStore } from '../../shared/graph/graph-store.ts'
import type {
  DiffusionQuery,
  FollowQuery,
  LinkAnswer,
  LinkQuery,
  LookupAnswer,
  LookupKind,
  SearchAnswer,
  SearchIndex,
  SearchQuery,
  SpellingAnswer,
} from '../../shared/graph/search-index.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { keepGraph, storedGraph } from './graph-image.ts'
import { diffuseFrom, followRelationsFrom } from './graph-walks.ts'
import { indexInfo, openIndexToRead, passagesIn } from './index-file.ts'
import { linksOf } from './link-reader.ts'
import { type LoadedGraph, loadGraph } from './load-graph.ts'
import { lookUpIds, searchPassages } from './search.ts'
import { searchLinked } from './search-linked.ts'
import { misspeltWords, wordsOfNames } from './spelling.ts'

/** The SearchIndex port over one open index file, without waiting; `changed` is told when the file was written to. */
export interface IndexReader {
  search(query: SearchQuery): SearchAnswer
  lookup(by: LookupKind, text: string): LookupAnswer
  spelling(text: string): SpellingAnswer
  diffuse(query: DiffusionQuery): SearchAnswer
  follow(query: FollowQuery): SearchAnswer
  links(query: LinkQuery): LinkAnswer
  /** What walks need is read, and kept in the file: of one that may be written to, by nobody else until it is done. */
  prepare(pause?: () => Promise<void>): Promise<void>
  changed(): void
}

export function indexReader(db: DatabaseSync): IndexReader {
  /** Of the file as it is: how many passages it has, and the graph and the words of names once they were asked for. */
  let known: { passages?: number; graph?: LoadedGraph; words?: ReadonlySet<string> } = {}
  const passages = () => (known.passages ??= passagesIn(db))
  const state = () => {
    const as_of = indexInfo(db, 'as_of')
    return as_of === undefined ? {} : { as_of }
  }
  return {
    search: (query) =>
      reading('search', () => {
        checkLimit(query.limit)
        const { named } = query
        if (named === undefined) return { hits: searchPassages(db, query, passages), ...state() }
        checkSeeds(named.map(() => ({ weight: 1 })))
        known.graph ??= readGraph(db, passages())
        return { hits: searchLinked(db, known.graph, { ...query, named }, passages), ...state() }
      }),
    lookup: (by, text) =>
      reading('look up a name', () => {
        return { entity_ids: lookUpIds(db, by, text), ...state() }
      }),
    spelling: (text) =>
      reading('look at the spelling', () => {
        const words = () => (known.words ??= wordsOfNames(db))
        return { misspelt: misspeltWords(db, text, words), ...state() }
      }),
    diffuse: (query) =>
      reading('walk the graph', () => {
        checkLimit(query.limit)
        checkSeeds(query.seeds)
        known.graph ??= readGraph(db, passages())
        return { hits: diffuseFrom(db, known.graph, query), ...state() }
      }),
    follow: (query) =>
      reading('walk the graph', () => {
        checkLimit(query.limit)
        checkSeeds(query.seeds.map(() => ({ weight: 1 })))
        known.graph ??= readGraph(db, passages())
        return { hits: followRelationsFrom(db, known.graph, query), ...state() }
      }),
    links: (query) => reading('look for mentions', () => ({ links: linksOf(db, passages(), query), ...state() })),
    async prepare(pause) {
      known.graph ??= await keepGraph(db, pause)
    },
    changed() {
      known = {}
    },
  }
}

function readGraph(db: DatabaseSync, texts: number): LoadedGraph {
  return storedGraph(db) ?? loadGraph(db, texts)
}

function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1_000) return
  const message = `Cannot search: the limit is ${limit}, allowed are 1 to 1000 hits.`
  throw new Fault('InvalidInput', 'bad_search', message)
}

function checkSeeds(seeds: readonly { readonly weight: number }[]): void {
  const wrong = seeds.find(({ weight }) => !(weight > 0 && Number.isFinite(weight)))
  if (wrong === undefined && seeds.length <= 100) return
  const seen = wrong === undefined ? `it has ${seeds.length} seeds` : `a seed weighs ${wrong.weight}`
  const message = `Cannot walk the graph: ${seen}; allowed are at most 100 seeds, each of a weight above 0.`
  throw new Fault('InvalidInput', 'bad_search', message)
}

function reading<T>(doing: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    const seen = cause instanceof Error ? cause.message : String(cause)
    const message = `Cannot ${doing}: the search index answered "${seen}". Try again; the index can be made anew from the graph.`
    throw new Fault('Unavailable', 'index_unavailable', message, { cause })
  }
}

interface SnapshotSource {
  readonly graph: Pick<GraphStore, 'manifest'>
  readonly snapshots: Pick<ObjectStore, 'get'>
  readonly clock: Pick<Clock, 'now'>
  /** Where snapshots are opened: /tmp on AWS. */
  readonly folder: string
}

/** How old what a reader knows of the manifest may be. */
const LOOK_EVERY_MS = 5_000
/** Indexes kept open by one sandbox, each with a file of up to some hundred MB. */
const MOST_OPEN = 3

interface Opened {
  readonly reader: IndexReader
  readonly version: number
  close(): void
}

interface Kept {
  looked_at: number
  opened: Opened | undefined
  /** One look at a time; others wait for it. */
  looking: Promise<void> | undefined
}

/**
 * The SearchIndex port over published snapshots: the newest is opened read-only and looked after at most each 5 s, by
 * whoever asks then; while that fails the older one goes on answering, as its `as_of` says. A tenant without an index
 * has no hits.
 */
export function openSnapshotIndex(source: SnapshotSource): SearchIndex {
  const kept = new Map<string, Kept>()
  const readerOf = async (tenant: string): Promise<IndexReader | undefined> => {
    const mine = kept.get(tenant) ?? { looked_at: -Infinity, opened: undefined, looking: undefined }
    kept.delete(tenant)
    kept.set(tenant, mine)
    closeOldest(kept)
    if (source.clock.now() - mine.looked_at >= LOOK_EVERY_MS) {
      mine.looking ??= look(source, tenant, mine).finally(() => {
        mine.looking = undefined
      })
    }
    await mine.looking
    return mine.opened?.reader
  }
  return {
    search: async (tenant, query) => (await readerOf(tenant))?.search(query) ?? { hits: [] },
    lookup: async (tenant, by, text) => (await readerOf(tenant))?.lookup(by, text) ?? { entity_ids: [] },
    spelling: async (tenant, text) => (await readerOf(tenant))?.spelling(text) ?? { misspelt: [] },
    diffuse: async (tenant, query) => (await readerOf(tenant))?.diffuse(query) ?? { hits: [] },
    follow: async (tenant, query) => (await readerOf(tenant))?.follow(query) ?? { hits: [] },
    links: async (tenant, query) => (await readerOf(tenant))?.links(query) ?? { links: [] },
  }
}

async function look(source: SnapshotSource, tenant: string, mine: Kept): Promise<void> {
  try {
    const manifest = await source.graph.manifest(tenant)
    if (manifest !== undefined && manifest.version !== mine.opened?.version) {
      const body = await source.snapshots.get(tenant, manifest.ref)
      const before = mine.opened
      mine.opened = openSnapshot(source.folder, tenant, manifest.version, body) ?? before
      if (mine.opened !== before) before?.close()
    }
    mine.looked_at = source.clock.now()
  } catch (cause) {
    if (mine.opened === undefined) throw cause
    mine.looked_at = source.clock.now()
  }
}

/** undefined: it is of another version, which the next publication replaces. */
function openSnapshot(folder: string, tenant: string, version: number, body: Uint8Array): Opened | undefined {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${tenant}-${version}.db`)
  writeFileSync(file, body)
  const db: DatabaseSync | undefined = openIndexToRead(file)
  const close = () => {
    db?.close()
    rmSync(file, { force: true })
  }
  if (db !== undefined) return { reader: indexReader(db), version, close }
  close()
  return undefined
}

/** Files of tenants nobody asked about lately. One that is being looked at stays. */
function closeOldest(kept: Map<string, Kept>): void {
  for (const [tenant, { opened, looking }] of kept) {
    if (kept.size <= MOST_OPEN) return
    if (looking !== undefined) continue
    opened?.close()
    kept.delete(tenant)
  }
}
