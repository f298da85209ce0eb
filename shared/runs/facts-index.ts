import type { RunState, ShownState } from './head.ts'
import type { Labels } from './labels.ts'

/**
 * What a run is found by (docs/adr/0097). It follows from META and HEAD, which decide: a store keeps it beside them, so that
 * a search reads one small item a run.
 */
export interface RunFacts extends BirthFacts, EndFacts {
  readonly labels: Labels
}

/** What never changes. */
export interface BirthFacts {
  readonly run_id: string
  readonly created_at: string
  readonly dag_name: string
  readonly starter: string
  /** A question to the knowledge graph is a root or a child besides. */
  readonly roles: readonly string[]
  /** Digests of whose data it holds. */
  readonly subjects?: readonly string[]
}

/** Where a run stands: of one that has ended it is what stays. */
export interface EndFacts {
  readonly state: ShownState
  readonly tokens: number
  readonly usd_micros: number
  readonly ended_at?: string
  readonly code?: string
}

/** As a store keeps them. */
export interface StoredFacts {
  readonly birth: BirthFacts
  readonly labels: Labels
  /** Absent: HEAD says how it stands. */
  readonly end?: EndFacts
}

/** A run by time: places are compared as texts, later runs are greater. */
export function placeOf({ created_at, run_id }: Pick<BirthFacts, 'created_at' | 'run_id'>): string {
  return `${created_at}#${run_id}`
}

export function runAt(place: string): Pick<BirthFacts, 'created_at' | 'run_id'> {
  const at = place.lastIndexOf('#')
  return { created_at: place.slice(0, at), run_id: place.slice(at + 1) }
}

/**
 * Terms a store lists runs under, so that few are read: a run is under every term that holds of it, and may be under one
 * that held once. Words are never taken back: what is under one has it.
 */
export const term = {
  id: (run_id: string) => `id=${run_id.slice(0, ID_CHARACTERS)}`,
  dag: (name: string) => `dag=${name}`,
  starter: (name: string) => `starter=${name}`,
  label: (key: string, value?: string) => (value === undefined ? `label=${key}` : `label=${key}=${value}`),
  subject: (digest: string) => `subject=${digest}`,
  state: (state: ShownState) => `state=${state}`,
  code: (code: string) => `code=${code}`,
  word: (word: string) => `word=${word}`,
} as const

/** `run_` and as much as the shortest id that may be typed has. */
const ID_CHARACTERS = 'run_'.length + 4

/** States runs are listed under once they have ended so. Most complete: whoever looks for those is served by time as well. */
export const STATES_WITH_TERM: readonly ShownState[] = [
  'partial',
  'blocked',
  'failed',
  'cancelled',
  'iterated',
] satisfies readonly RunState[]

export function labelTerms(labels: Labels): readonly string[] {
  return Object.entries(labels).flatMap(([key, value]) => [term.label(key), term.label(key, value)])
}

export interface PartOfPlaces {
  /** Only places before this one. */
  readonly before?: string | undefined
  /** Only places from this one on. */
  readonly from?: string | undefined
  readonly limit: number
}

export interface PlacedFacts {
  readonly place: string
  /** undefined: it cannot be read, and META and HEAD say it. */
  readonly stored: StoredFacts | undefined
}

/** What a search of runs reads. Places come latest first; fewer than `limit` of them are all there are. */
export interface FactsIndex {
  facts(tenant: string, part: PartOfPlaces): Promise<readonly PlacedFacts[]>
  /** In any order. */
  factsAt(tenant: string, places: readonly string[]): Promise<readonly PlacedFacts[]>
  /** Places of the runs under one term. */
  placesUnder(tenant: string, term: string, part: PartOfPlaces): Promise<readonly string[]>
}
