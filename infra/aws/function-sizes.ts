import { FUNCTIONS, type FunctionLine } from '../../shared/catalog.ts'
import { ROUTES } from '../../shared/routes.ts'
import type { ChosenRights } from './access.ts'
import { functionRights } from './grants.ts'

/** Limits of one function. Lambda's share of a core grows with memory: 1,769 MB is one. */
interface FunctionSize {
  readonly timeoutSec: number
  readonly memoryMb: number
  /** Calls at once, kept free for it and never exceeded. */
  readonly atOnce?: number
  /** As `atOnce`, where the settings keep executions free (`reserved_concurrency`). */
  readonly keptFree?: number
  /** Of /tmp, 512 when absent. */
  readonly diskMb?: number
}

/** Explicit for every function; what is not listed answers a request from the table within API Gateway's 29 seconds. */
export function functionSize(name: string): FunctionSize {
  return SIZES[name] ?? { timeoutSec: 29, memoryMb: 256 }
}

const SIZES: Readonly<Record<string, FunctionSize>> = {
  // A dispatch may take 840 s; its isolate is two processes of at most 64 MB of heap beside it.
  // Agents search the graph in it: its index, two on the disk while one is replaced.
  'run-block': { timeoutSec: 900, memoryMb: 1_024, diskMb: 1_024 },
  // Pre-gates: twenty at most, of which each may ask or run something for minutes.
  'request-approval': { timeoutSec: 900, memoryMb: 512 },
  // Pre-gates, and the inputs of a step.
  'open-step': { timeoutSec: 900, memoryMb: 1_024 },
  'report-step': { timeoutSec: 29, memoryMb: 256 },
  // As start-run, and pre-gates.
  'open-child': { timeoutSec: 900, memoryMb: 1_024 },
  // Pre-gates, and `match` of a thousand kept events at the most, in the isolate.
  'open-wait': { timeoutSec: 900, memoryMb: 1_024 },
  // Looks at waits for 15 s, and computes their `match` in the isolate.
  'send-event': { timeoutSec: 29, memoryMb: 1_024 },
  'answer-callback': { timeoutSec: 29, memoryMb: 512 },
  'receive-event': { timeoutSec: 300, memoryMb: 1_024 },
  // Opens the index of 100,000 entities: some hundred MB, whole in memory once, two on the disk while one is replaced.
  'nl-classify': { timeoutSec: 900, memoryMb: 1_769, diskMb: 1_024 },
  'execute-subqueries': { timeoutSec: 900, memoryMb: 1_769, diskMb: 1_024 },
  'search-graph': { timeoutSec: 29, memoryMb: 1_769, diskMb: 1_024 },
  'route-search': { timeoutSec: 900, memoryMb: 512 },
  'assess-sufficiency': { timeoutSec: 900, memoryMb: 1_769, diskMb: 1_024 },
  'synthesize-answer': { timeoutSec: 900, memoryMb: 1_769, diskMb: 1_024 },
  // Copies the index, changes it and writes it anew: three times its size on the disk, whole in memory once.
  'index-graph': { timeoutSec: 900, memoryMb: 2_048, diskMb: 2_048 },
  // Its requests end after 30 s, its commands after 300 s.
  'net-gate': { timeoutSec: 40, memoryMb: 256 },
  'shell-gate': { timeoutSec: 310, memoryMb: 1_024, atOnce: 5 },
  settle: { timeoutSec: 60, memoryMb: 256 },
  // Reads every text and artifact of a run, an artifact of at most 64 MiB at a time.
  'decide-completion': { timeoutSec: 900, memoryMb: 1_024 },
  'wait-join': { timeoutSec: 30, memoryMb: 256 },
  // Checking and compiling 1,000 blocks is a second of a whole core.
  'start-run': { timeoutSec: 29, memoryMb: 1_024 },
  'retry-run': { timeoutSec: 29, memoryMb: 1_024 },
  'validate-dag': { timeoutSec: 29, memoryMb: 1_024 },
  'plan-dag': { timeoutSec: 29, memoryMb: 1_024 },
  'get-run-graph': { timeoutSec: 29, memoryMb: 1_024 },
  // Reads and hashes the inputs and answers of fifty attempts.
  'get-block': { timeoutSec: 29, memoryMb: 1_024 },
  // Reads what fifty turns and their calls said and gave.
  'get-transcript': { timeoutSec: 29, memoryMb: 1_024 },
  // Weighs up to 100 documents of 1,000 blocks.
  'list-approvals': { timeoutSec: 29, memoryMb: 1_024 },
  // Reads every object of a run and judges its gates again.
  'verify-run': { timeoutSec: 29, memoryMb: 1_024 },
  // Somebody waits for its cold start, at most three seconds; half a core signs and answers in time.
  'slack-interactions': { timeoutSec: 10, memoryMb: 1_024 },
  // Some calls of 1.5 s each, one after another.
  'slack-work': { timeoutSec: 120, memoryMb: 512 },
  // Begins requests for a minute; the last may take 20 s.
  'send-webhooks': { timeoutSec: 120, memoryMb: 256 },
  // Begins puts for a minute; the last may take 30 s.
  'send-bus-events': { timeoutSec: 120, memoryMb: 256 },
  'send-outbox': { timeoutSec: 60, memoryMb: 256 },
  // Works for four minutes; holds a body of at most 64 MiB, and its text.
  'keep-or-erase': { timeoutSec: 300, memoryMb: 1_024 },
  // Works for four minutes; a retry compiles the document of its run.
  'run-bulk': { timeoutSec: 300, memoryMb: 1_024 },
  // Reads up to 25,000 runs.
  'count-runs': { timeoutSec: 29, memoryMb: 1_024 },
  'plan-bulk': { timeoutSec: 29, memoryMb: 1_024 },
  // Step Functions takes one deletion a second; a call removes 300 machines at most.
  'clear-machines': { timeoutSec: 900, memoryMb: 256 },
  // Checks and compiles each document it starts, in the isolate; a look may find a hundred times that were missed.
  'fire-triggers': { timeoutSec: 300, memoryMb: 1_024 },
  'fire-trigger': { timeoutSec: 29, memoryMb: 1_024 },
  'try-trigger': { timeoutSec: 29, memoryMb: 1_024 },
  // Holds a body of at most 64 MiB.
  'take-object': { timeoutSec: 120, memoryMb: 1_024 },
  'take-webhook': { timeoutSec: 29, memoryMb: 1_024 },
  // What must go on however many streams are open: runs that are owed something, decisions, stops.
  // Its isolate computes what waits match.
  sweep: { timeoutSec: 300, memoryMb: 512, keptFree: 2 },
  'decide-approval': { timeoutSec: 29, memoryMb: 256, keptFree: 10 },
  'stop-run': { timeoutSec: 29, memoryMb: 256, keptFree: 10 },
  'stop-all': { timeoutSec: 29, memoryMb: 256, keptFree: 2 },
  // Open for five minutes, waiting for most of them.
  'stream-events': { timeoutSec: 330, memoryMb: 128 },
}

/** Which stack a function is in, and why. */
type Placement = 'machine' | 'unseen' | 'called' | 'told' | 'guard' | 'route' | 'operations'

export function functionsIn(placement: Placement): readonly FunctionLine[] {
  return FUNCTIONS.filter((line) => placementOf(line) === placement)
}

/** Whether a deployment has it: what runs commands, writes anchors, hears of steps, takes releases back, takes events of EventBridge or puts some there, is about triggers or takes what is dropped, talks to Slack or reads bearers stands only where that is asked for. */
export function isDeployed(
  { serves, guards, called_by, only_with, of, ports }: FunctionLine,
  {
    shell,
    slack,
    auth,
    anchors,
    events,
    triggers,
    drops,
    steps = [],
    buses = [],
    releases,
  }: Pick<
    ChosenRights,
    'shell' | 'slack' | 'auth' | 'anchors' | 'events' | 'triggers' | 'drops' | 'steps' | 'buses' | 'releases'
  >,
): boolean {
  if (called_by !== undefined) return events !== undefined
  if (of === 'triggers') return triggers === true
  if (of === 'objects') return drops === true
  if (only_with === 'buses') return buses.length > 0
  if (only_with === 'releases') return releases === true
  if (guards !== undefined) return auth !== undefined
  if (serves === 'shell') return shell
  if (serves === 'anchor') return anchors === true
  if (serves === 'step') return steps.length > 0
  return slack !== undefined || !ports.includes('slack')
}

/**
 * `machine`: a machine calls it. `unseen`: it is invoked asynchronously, so it has dead letters; start-run too, which
 * send-outbox invokes and which must stand beside the machines whose versions it is told. `called`: other functions call it
 * and wait. `told`: a route that is told those versions too. `guard`: API Gateway asks it who calls. `operations`: a route whose function
 * stands in a stack of its own. `route`: the rest, beside the API.
 */
function placementOf(line: FunctionLine): Placement {
  if (line.serves !== undefined) return 'called'
  if (line.guards !== undefined) return 'guard'
  if (line.placeholder !== undefined) return 'machine'
  const rights = functionRights(line)
  const hasRoute = ROUTES.some((route) => route.name === line.name)
  if (!hasRoute || rights.includes('machine.ensure')) return 'unseen'
  if (rights.includes('machine.named') || rights.includes('machine.deployed')) return 'told'
  return line.stack ?? 'route'
}
