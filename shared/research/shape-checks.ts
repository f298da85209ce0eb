import { assessmentOutputKind } from './assessment-output.ts'
import { candidateKind } from './candidate.ts'
import { classifierOutputKind } from './classifier-output.ts'
import { type Decoded, type PayloadKind, readPayload } from './decode-payload.ts'
import { evidenceKind } from './evidence.ts'
import { executionOutputKind } from './execution-output.ts'
import { intentKind } from './intent.ts'
import type { PayloadError } from './payload-error.ts'
import { parseDecomposeArgs, parseRetightenArgs, parseWalkSeedsArgs } from './route-args.ts'
import { type RouteDecision, routeDecisionKind } from './route-decision.ts'
import { searchResultKind } from './search-result.ts'

/** The payloads, their parts and the args of a decision, as checks by name. */
export const SHAPE_CHECKS: Readonly<Record<string, (input: unknown) => readonly PayloadError[]>> = {
  Intent: reads(intentKind),
  Candidate: reads(candidateKind),
  ClassifierOutput: reads(classifierOutputKind),
  RouteDecision: reads(routeDecisionKind),
  'RouteDecision.ParseRetightenArgs': parses(parseRetightenArgs),
  'RouteDecision.ParseWalkSeedsArgs': parses(parseWalkSeedsArgs),
  'RouteDecision.ParseDecomposeArgs': parses(parseDecomposeArgs),
  Evidence: reads(evidenceKind),
  SearchResult: reads(searchResultKind),
  ExecutionOutput: reads(executionOutputKind),
  AssessmentOutput: reads(assessmentOutputKind),
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
