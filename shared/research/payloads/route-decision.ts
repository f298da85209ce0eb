import * as z from 'zod'
import {
  blankErrors,
  type Decoded,
  hintErrors,
  type PayloadError,
  type PayloadKind,
  payloadError,
  readPayload,
  unlistedErrors,
} from './codec.ts'

/** What route_search can decide; a closed list. */
export const ROUTE_ACTIONS = ['synthesize_directly', 'retighten', 'walk_seeds', 'decompose'] as const

export type RouteAction = (typeof ROUTE_ACTIONS)[number]

export function isValidRouteAction(word: string): word is RouteAction {
  return (ROUTE_ACTIONS as readonly string[]).includes(word)
}

/** What route_search emits (docs/research.md, "RouteDecision"). */
export const RouteDecisionSchema = z.object({
  action: z.enum(ROUTE_ACTIONS),
  /** By action. */
  args: z.record(z.string(), z.unknown()).optional(),
  /** Prose; no rule or condition looks at it. */
  rationale: z.string().optional(),
})

export type RouteDecision = z.infer<typeof RouteDecisionSchema>

/** The closed list of actions is all there is to check, and decoding does: args are for who uses them. */
export const routeDecisionKind: PayloadKind<RouteDecision> = {
  schema: RouteDecisionSchema,
  validate: () => [],
}

/** How a seed reference is read; a closed list. */
const SEED_REF_TYPES = ['name', 'partial_id', 'candidate_index'] as const

export type SeedRefType = (typeof SEED_REF_TYPES)[number]

export function isValidSeedRefType(word: string): word is SeedRefType {
  return (SEED_REF_TYPES as readonly string[]).includes(word)
}

const RetightenArgsSchema = z.object({ topic: z.string(), hints: z.record(z.string(), z.string()).optional() })
type RetightenArgs = z.infer<typeof RetightenArgsSchema>

const SeedRefSchema = z.object({ ref: z.string(), ref_type: z.enum(SEED_REF_TYPES) })
export type SeedRef = z.infer<typeof SeedRefSchema>
const WalkSeedsArgsSchema = z.object({ seeds: z.array(SeedRefSchema) })
type WalkSeedsArgs = z.infer<typeof WalkSeedsArgsSchema>

const DecomposeArgsSchema = z.object({ axes: z.array(z.string()), focus: z.string(), scope: z.string().optional() })
export type DecomposeArgs = z.infer<typeof DecomposeArgsSchema>

export function parseRetightenArgs(decision: RouteDecision): Decoded<RetightenArgs> {
  return parseArgs('retighten', decision, {
    schema: RetightenArgsSchema,
    validate: ({ topic, hints }) => [...blankErrors('topic', topic), ...hintErrors('hints', hints)],
  })
}

/** Whether an index is in the list of candidates is for who resolves it (shared/research/sub-queries.ts). */
export function parseWalkSeedsArgs(decision: RouteDecision): Decoded<WalkSeedsArgs> {
  return parseArgs('walk_seeds', decision, {
    schema: WalkSeedsArgsSchema,
    validate: ({ seeds }) => [
      ...refuseEmpty('seeds', seeds),
      ...seeds.flatMap(({ ref }, index) => blankErrors(`seeds[${index}].ref`, ref)),
    ],
  })
}

/** Axes are free: those without a template search for the focus and the axis (shared/research/sub-queries.ts). */
export function parseDecomposeArgs(decision: RouteDecision): Decoded<DecomposeArgs> {
  return parseArgs('decompose', decision, {
    schema: DecomposeArgsSchema,
    validate: ({ axes, focus, scope }) => [
      ...refuseEmpty('axes', axes),
      ...axes.flatMap((axis, index) => blankErrors(`axes[${index}]`, axis)),
      ...blankErrors('focus', focus),
      ...unlistedErrors('scope', scope ?? '', ['', ...DECOMPOSE_SCOPES]),
    ],
  })
}

function parseArgs<T>(action: RouteAction, decision: RouteDecision, kind: PayloadKind<T>): Decoded<T> {
  if (decision.action !== action) {
    const told = `is ${JSON.stringify(decision.action)}, these args are of "${action}"`
    return { ok: false, errors: [payloadError('wrong_action', 'action', told)] }
  }
  const read = readPayload(kind, decision.args ?? {})
  return read.ok ? read : { ok: false, errors: read.errors.map(underArgs) }
}

/** The same error, seen from the decision. */
function underArgs({ code, path, message }: PayloadError): PayloadError {
  const whole = path === '' ? 'args' : `args.${path}`
  const from = path === '' ? 'The payload' : JSON.stringify(path)
  return { code, path: whole, message: message.replace(from, () => JSON.stringify(whole)) }
}

function refuseEmpty(path: string, items: readonly unknown[]): readonly PayloadError[] {
  return items.length > 0 ? [] : [payloadError('field_required', path, 'needs at least one item')]
}

/**
 * What is wrong with a router's decision, its args included; empty = it holds. Without candidates there is nothing to
 * synthesize from or to walk from. A decision with errors is asked for once more with them, then routeByDefault().
 */
export function routeErrors(decision: RouteDecision, candidates: number): readonly PayloadError[] {
  const { action } = decision
  if (candidates === 0 && action !== 'retighten' && action !== 'decompose') {
    return [
      payloadError(
        'field_value',
        'action',
        `is "${action}", but there are no candidates: allowed are "retighten", "decompose"`,
      ),
    ]
  }
  const args = PARSERS[action](decision)
  return args.ok ? [] : args.errors
}

const PARSERS: Readonly<Record<RouteAction, (decision: RouteDecision) => Decoded<unknown>>> = {
  synthesize_directly: () => ({ ok: true, value: {} }),
  retighten: parseRetightenArgs,
  walk_seeds: parseWalkSeedsArgs,
  decompose: parseDecomposeArgs,
}

/** The safe route: decompose with the topic as focus. It finds something for every topic there is something about. */
export function routeByDefault(topic: string): RouteDecision {
  return { action: 'decompose', args: { axes: ['entity_type', 'relationship'], focus: topic } }
}

/** How wide a decomposition is; a closed list. */
const DECOMPOSE_SCOPES = ['narrow', 'medium', 'broad'] as const

type DecomposeScope = (typeof DECOMPOSE_SCOPES)[number]

/** `""` is valid: it means medium. */
export function isValidDecomposeScope(word: string): boolean {
  return word === '' || (DECOMPOSE_SCOPES as readonly string[]).includes(word)
}

/** How many candidates, and how many hits of each sub-query, a scope takes. */
export function decomposeScopeLimit(word: string | undefined): number {
  return SCOPE_BOUNDS[(word || 'medium') as DecomposeScope]
}

const SCOPE_BOUNDS: Readonly<Record<DecomposeScope, number>> = { narrow: 3, medium: 8, broad: 20 }
