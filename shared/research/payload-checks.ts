import { refuseEntityId, refuseEntityIdPattern, refuseEntityIdPrefix } from '../graph/entity-id.ts'
import { isPredicate } from '../graph/predicate.ts'
import { isValidDecomposeScope } from './decompose-scope.ts'
import type { PayloadError } from './payload-error.ts'
import { payloadError } from './payload-error.ts'
import { isValidRouteAction } from './route-action.ts'
import { isValidSeedRefType } from './seed-ref-type.ts'
import { SHAPE_CHECKS } from './shape-checks.ts'

type Check = (input: unknown) => readonly PayloadError[]

/** What `sluice research validate` can check, by name; an empty list accepts. */
export const PAYLOAD_CHECKS: Readonly<Record<string, Check>> = {
  ...SHAPE_CHECKS,
  EntityID: text((id) => refusal(refuseEntityId(id))),
  EntityIDPrefix: text((prefix) => refusal(refuseEntityIdPrefix(prefix))),
  EntityIDPattern: text((pattern) => refusal(refuseEntityIdPattern(pattern))),
  Predicate: text((predicate) => (isPredicate(predicate) ? [] : [BAD_PREDICATE])),
  IsValidRouteAction: text((word) => unlessAllowed(isValidRouteAction(word))),
  IsValidDecomposeScope: text((word) => unlessAllowed(isValidDecomposeScope(word))),
  IsValidSeedRefType: text((word) => unlessAllowed(isValidSeedRefType(word))),
}

const BAD_PREDICATE = {
  code: 'bad_predicate',
  path: '',
  message: 'A predicate is two or more dotted lower-case segments, such as "geo.capital".',
}

function text(check: (text: string) => readonly PayloadError[]): Check {
  return (input) => (typeof input === 'string' ? check(input) : [payloadError('field_type', '', 'must be text')])
}

function refusal(refused: ReturnType<typeof refuseEntityId>): readonly PayloadError[] {
  return refused === undefined ? [] : [{ code: refused.reason, path: '', message: refused.message }]
}

function unlessAllowed(allowed: boolean): readonly PayloadError[] {
  return allowed ? [] : [payloadError('field_value', '', 'is none of the words of this list')]
}
