import { candidateKind } from './candidate.ts'
import { type Decoded, type PayloadKind, readPayload } from './decode-payload.ts'
import { evidenceKind } from './evidence.ts'
import type { PayloadError } from './payload-error.ts'
import { readCategory, readEnvelope } from './payloads.ts'
import { parseDecomposeArgs, parseRetightenArgs, parseWalkSeedsArgs } from './route-args.ts'
import { type RouteDecision, routeDecisionKind } from './route-decision.ts'

/** The envelope, the payloads, their parts and the args of a decision, as checks by name. */
export const SHAPE_CHECKS: Readonly<Record<string, (input: unknown) => readonly PayloadError[]>> = {
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
function registered(category: Parameters<typeof readCategory>[0]) {
  return (input: unknown) => errorsOf(readCategory(category, input))
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
