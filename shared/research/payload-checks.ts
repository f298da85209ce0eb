import { refuseEntityId, refuseEntityIdPattern, refuseEntityIdPrefix } from '../graph/entity-id.ts'
import { isPredicate } from '../graph/triple.ts'
import { candidateKind, evidenceKind } from './payloads/candidate-and-evidence.ts'
import { type Decoded, type PayloadError, type PayloadKind, payloadError, readPayload } from './payloads/codec.ts'
import { readEnvelope, readPayloadOfCategory } from './payloads/envelope.ts'
import {
  isValidDecomposeScope,
  isValidRouteAction,
  isValidSeedRefType,
  parseDecomposeArgs,
  parseRetightenArgs,
  parseWalkSeedsArgs,
  type RouteDecision,
  routeDecisionKind,
} from './payloads/route-decision.ts'

/** The envelope, the payloads, their parts and the args of a decision, as checks by name. */
const SHAPE_CHECKS: Readonly<Record<string, (input: unknown) => readonly PayloadError[]>> = {
  Envelope: (input) => errorsOf(readEnvelope(input)),
  Intent: registered('intent'),
  Candidate: reads(candidateKind),
  ClassifierOutput: registered('classifier_output'),
  RouteDecision: registered('route_decision'),
  'RouteDecision.ParseRetightenArgs': parses(parseRetightenArgs),
  'RouteDecision.ParseWalkSeedsArgs': parses(parseWalkSeedsArgs),
  'RouteDecision.ParseDecomposeArgs': parses(parseDecomposeArgs),
  Evidence: reads(evidenceKind),
  SearchResult: registered('result'),
  ExecutionOutput: registered('execution_output'),
  AssessmentOutput: registered('assessment_output'),
}

/** As the registry has it, so that this command reads what every function reads. */
function registered(category: Parameters<typeof readPayloadOfCategory>[0]) {
  return (input: unknown) => errorsOf(readPayloadOfCategory(category, input))
}

function reads<T>(kind: PayloadKind<T>) {
  return (input: unknown) => errorsOf(readPayload(kind, input))
}

function parses(parse: (decision: RouteDecision) => Decoded<unknown>) {
  return (input: unknown) => {
    const decision = readPayload(routeDecisionKind, input)
    return errorsOf(decision.ok ? parse(decision.value) : decision)
  }
}

function errorsOf(read: Decoded<unknown>): readonly PayloadError[] {
  return read.ok ? [] : read.errors
}

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
