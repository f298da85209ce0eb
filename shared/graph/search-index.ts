import * as z from 'zod'
import { MAIN_TENANT } from '../auth/principal.ts'
import type { Link } from './mentions.ts'
import type { Misspelt } from './spelling.ts'

/** A part of the entities; every member narrows it. */
export interface EntityFilter {
  /** In small letters: the entity's own type or the fifth segment of its id. */
  readonly type?: string
  /** Third segment of the id. */
  readonly domain?: string
  /** Stated by the entity; with `object`, that literal (case and outer blanks do not count) or entity id. */
  readonly stated?: { readonly predicate: string; readonly object?: string | number | boolean }
  /** ISO, both ends inclusive; an entity without a time is in none. */
  readonly time_range?: { readonly from: string; readonly to: string }
  /** Degrees; west > east crosses the 180th meridian. An entity without a place is in none. */
  readonly geo_bounds?: { readonly north: number; readonly south: number; readonly east: number; readonly west: number }
}

export interface SearchQuery {
  /**
   * Words to rank by; "quoted words" must stand together, but in a question. Absent, blank, or of no word: every entity of the filter,
   * newest first. At most 4,000 characters are looked at.
   */
  readonly text?: string
  readonly filter?: EntityFilter
  /**
   * Ids of what the text names: what these and the best hits of its words are linked to is found too, all as one ranking.
   * Absent: the words alone. At most 100; unknown ones are left out.
   */
  readonly named?: readonly string[]
  /**
   * With `named`: what the best hits name and the text still asks for is searched for too (functions/search/go-onward.ts).
   */
  readonly onward?: true
  /** Hits, 1 to 1,000. */
  readonly limit: number
}

export interface SearchHit {
  readonly entity_id: string
  /** Higher is better, within this answer only; 0 where nothing was ranked. */
  readonly score: number
  /** No word of the text found it, only what it is linked to. */
  readonly linked?: true
  readonly label?: string
  readonly type: string
  /** The sentences of the best passage that have most of the words; the entity's own snippet where nothing was ranked. */
  readonly snippet_text?: string
  readonly objectstore_ref?: string
  /** ISO. */
  readonly time?: string
}

/** What every answer of the index carries. */
export interface IndexState {
  /** Every write answered before this moment (ISO) is in it; absent where nothing was ever put. */
  readonly as_of?: string
}

export interface SearchAnswer extends IndexState {
  readonly hits: readonly SearchHit[]
}

export interface LookupAnswer extends IndexState {
  /** At most LOOKUP_LIMIT, in text order. */
  readonly entity_ids: readonly string[]
}

/** `written`: by the words of label or alias, whatever case, accents and marks, with or without a bracket at the end. */
export type LookupKind = 'label' | 'alias' | 'written' | 'suffix'

export interface SpellingAnswer extends IndexState {
  readonly misspelt: readonly Misspelt[]
}

/** A name has so many namesakes before the rest is left out: two are enough to make it ambiguous. */
export const LOOKUP_LIMIT = 20

export interface DiffusionQuery {
  /** Entities and how much each counts (> 0); unknown ones are left out. At most 100. */
  readonly seeds: readonly { readonly entity_id: string; readonly weight: number }[]
  /**
   * What is asked: edges whose predicate it names in its last segment draw the walker (`currency` in "Which currency ..").
   * At most 4,000 characters are looked at.
   */
  readonly text?: string
  /** 1 to 1,000. */
  readonly limit: number
}

export interface LinkQuery {
  /** Unknown ones are left out. */
  readonly entity_ids: readonly string[]
  /** `out`: what their texts mention; `in`: whose texts mention them. */
  readonly direction: 'in' | 'out'
  /** Of each entity. */
  readonly limit: number
}

export interface LinkAnswer extends IndexState {
  /** By entity in the order asked for, then by predicate and ends. */
  readonly links: readonly Link[]
}

export interface FollowQuery {
  /** Entities the question names; unknown ones are left out. At most 100. */
  readonly seeds: readonly string[]
  /** The question, whose words name relations by the last segment of their predicates. At most 4,000 characters are looked at. */
  readonly text: string
  /** 1 to 1,000. */
  readonly limit: number
}

/**
 * The search index of each tenant. Suite: test/conformance/search-index-suite.ts. Locally fresh at once; on AWS within
 * about 10 s of a write, and `as_of` says how fresh. Opaque triples are not in it. Faults: InvalidInput bad_search,
 * Unavailable index_unavailable.
 */
export interface SearchIndex {
  search(tenant: string, query: SearchQuery): Promise<SearchAnswer>
  /**
   * Entities whose label (or one of whose aliases) is this, case and outer blanks not counting; either of which has these
   * words (`written`); or whose id ends in it at a dot.
   */
  lookup(tenant: string, by: LookupKind, text: string): Promise<LookupAnswer>
  /** Words of a text that no text and no name has, and the words of names next to them (shared/graph/spelling.ts). */
  spelling(tenant: string, text: string): Promise<SpellingAnswer>
  /** Personalised PageRank from the seeds; `score` is the part of a walker's time spent there. Seeds may be hits. */
  diffuse(tenant: string, query: DiffusionQuery): Promise<SearchAnswer>
  /** What the relations a question names lead to from what it names (shared/graph/follow-relations.ts); each hit's score is 1. */
  follow(tenant: string, query: FollowQuery): Promise<SearchAnswer>
  /** What texts mention, by label or alias. Diffusion walks these edges too; nothing else takes them for stated. */
  links(tenant: string, query: LinkQuery): Promise<LinkAnswer>
}

/**
 * Brings the search index of a tenant up to what was put. Where questions do that themselves (locally), it only spares
 * the first one the wait.
 */
export interface Indexing {
  /** One round; past `until` (ISO) what is left is for the next one. `more`: there is, or somebody else was faster. */
  publish(
    tenant: string,
    until: string,
  ): Promise<{ readonly outcome: 'published' | 'unchanged' | 'lost'; readonly more: boolean }>
  /** Restarts the age of what readers open. */
  keep(tenant: string): Promise<void>
  /** How far the walk over bodies is that restarts theirs; undefined: none is under way. */
  walk(tenant: string): Promise<BodiesWalk | undefined>
  /** Notes how far it is, or that it is over. */
  noteWalk(tenant: string, walk: BodiesWalk | undefined): Promise<void>
}

/** A walk over what `GraphStore.list` answers. */
export interface BodiesWalk {
  /** The page to go on after; absent: the first. */
  readonly after?: string | undefined
}

/** What index-graph is called for: bringing the search index up to the graph, or keeping what the graph holds from its expiry. */
export const GraphWorkSchema = z.strictObject({
  tenant: z.string().min(1).default(MAIN_TENANT),
  /** `after`: a walk over the bodies begins here, whatever day it is. */
  keep: z.strictObject({ after: z.string().min(1).optional() }).optional(),
})

export type GraphWork = z.output<typeof GraphWorkSchema>
