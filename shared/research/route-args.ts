import * as z from 'zod'
import { type Decoded, type PayloadKind, readPayload } from './decode-payload.ts'
import { DECOMPOSE_SCOPES } from './decompose-scope.ts'
import { hintErrors } from './hint-errors.ts'
import { type PayloadError, payloadError } from './payload-error.ts'
import { refuseBlank, refuseOther } from './payload-rules.ts'
import type { RouteAction } from './route-action.ts'
import type { RouteDecision } from './route-decision.ts'
import { SEED_REF_TYPES } from './seed-ref-type.ts'

const RetightenArgsSchema = z.object({ topic: z.string(), hints: z.record(z.string(), z.string()).optional() })
export type RetightenArgs = z.infer<typeof RetightenArgsSchema>

const SeedRefSchema = z.object({ ref: z.string(), ref_type: z.enum(SEED_REF_TYPES) })
export type SeedRef = z.infer<typeof SeedRefSchema>
const WalkSeedsArgsSchema = z.object({ seeds: z.array(SeedRefSchema) })
export type WalkSeedsArgs = z.infer<typeof WalkSeedsArgsSchema>

const DecomposeArgsSchema = z.object({ axes: z.array(z.string()), focus: z.string(), scope: z.string().optional() })
export type DecomposeArgs = z.infer<typeof DecomposeArgsSchema>

export function parseRetightenArgs(decision: RouteDecision): Decoded<RetightenArgs> {
  return parse('retighten', decision, {
    schema: RetightenArgsSchema,
    validate: ({ topic, hints }) => [...refuseBlank('topic', topic), ...hintErrors('hints', hints)],
  })
}

/** Whether an index is in the list of candidates is for who resolves it (resolve-seeds.ts). */
export function parseWalkSeedsArgs(decision: RouteDecision): Decoded<WalkSeedsArgs> {
  return parse('walk_seeds', decision, {
    schema: WalkSeedsArgsSchema,
    validate: ({ seeds }) => [
      ...refuseEmpty('seeds', seeds),
      ...seeds.flatMap(({ ref }, index) => refuseBlank(`seeds[${index}].ref`, ref)),
    ],
  })
}

/** Axes are free: those without a template search for the focus and the axis (decompose-queries.ts). */
export function parseDecomposeArgs(decision: RouteDecision): Decoded<DecomposeArgs> {
  return parse('decompose', decision, {
    schema: DecomposeArgsSchema,
    validate: ({ axes, focus, scope }) => [
      ...refuseEmpty('axes', axes),
      ...axes.flatMap((axis, index) => refuseBlank(`axes[${index}]`, axis)),
      ...refuseBlank('focus', focus),
      ...refuseOther('scope', scope ?? '', ['', ...DECOMPOSE_SCOPES]),
    ],
  })
}

function parse<T>(action: RouteAction, decision: RouteDecision, kind: PayloadKind<T>): Decoded<T> {
  if (decision.action !== action) {
    const told = `is ${JSON.stringify(decision.action)}, these args are of "${action}"`
    return { ok: false, errors: [payloadError('wrong_action', 'action', told)] }
  }
  const read = readPayload(kind, decision.args ?? {})
  return read.ok ? read : { ok: false, errors: read.errors.map(below) }
}

/** The same error, seen from the decision. */
function below({ code, path, message }: PayloadError): PayloadError {
  const whole = path === '' ? 'args' : `args.${path}`
  const from = path === '' ? 'The payload' : JSON.stringify(path)
  return { code, path: whole, message: message.replace(from, () => JSON.stringify(whole)) }
}

function refuseEmpty(path: string, items: readonly unknown[]): readonly PayloadError[] {
  return items.length > 0 ? [] : [payloadError('field_required', path, 'needs at least one item')]
}
