import { scopeBound } from './decompose-scope.ts'
import type { DecomposeArgs } from './route-args.ts'
import { type Hints, readSearchHints, type SearchHints } from './search-hints.ts'
import { distinctQueries, type SubQuery } from './sub-query.ts'

interface Found {
  /** In the order the router was shown. */
  readonly candidates: readonly { readonly entity_id: string }[]
  readonly hints: Hints
  readonly now: Date
}

interface Template {
  readonly focus: string
  readonly limit: number
  readonly top: readonly string[]
  readonly hints: SearchHints
  readonly now: Date
}

/**
 * The sub-queries of a decomposition: always the focus as text, then what each axis stands for. `missing` names axes
 * whose template had nothing to work with; they degrade the output and abort nothing.
 */
export function decomposeQueries(
  { axes, focus, scope }: DecomposeArgs,
  { candidates, hints, now }: Found,
): { readonly queries: readonly SubQuery[]; readonly missing: readonly string[] } {
  const limit = scopeBound(scope)
  const top = candidates.slice(0, limit).map(({ entity_id }) => entity_id)
  const template = { focus, limit, top, hints: readSearchHints(hints), now }
  const made = axes.map((axis) => ({ axis, queries: queriesOf(axis.trim(), template) }))
  return {
    queries: distinctQueries([{ kind: 'lexical', text: focus, limit }, ...made.flatMap(({ queries }) => queries)]),
    missing: [...new Set(made.filter(({ queries }) => queries.length === 0).map(({ axis }) => axis))],
  }
}

function queriesOf(axis: string, template: Template): readonly SubQuery[] {
  const name = axis.toLowerCase().replace(/[\s-]+/g, '_')
  const known = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined
  if (known !== undefined) return known(template)
  return [{ kind: 'lexical', text: `${template.focus} ${axis}`, limit: template.limit }]
}

/** A new axis is one line here. */
const TEMPLATES: Readonly<Record<string, (template: Template) => readonly SubQuery[]>> = {
  entity_type: ({ top }) => top.map((entity_id) => ({ kind: 'entity_state', entity_id })),
  relationship: ({ top, limit }) => top.map((entity_id) => ({ kind: 'predicate_walk', entity_id, depth: 1, limit })),
  time: ({ hints, now, focus, limit }) => [
    { kind: 'temporal_range', ...(hints.time_range ?? lastDay(now)), text: focus, limit },
  ],
  spatial: ({ hints, limit }) =>
    hints.geo_bounds === undefined ? [] : [{ kind: 'spatial', ...hints.geo_bounds, limit }],
}

function lastDay(now: Date) {
  return { from: new Date(now.getTime() - 86_400_000).toISOString(), to: now.toISOString() }
}
