import { Fault } from '../../shared/errors.ts'

/** The rights of a function; Fault Bug no_grants when it uses a port that needs some and has no line here. */
export function functionRights({
  name,
  ports,
}: {
  readonly name: string
  readonly ports: readonly string[]
}): readonly Right[] {
  const own = GRANTS[name] ?? []
  // Whoever tells of spans needs what their collector asks for: it is no matter of the single function.
  const rights = [
    ...own,
    ...(ports.includes('telemetry') ? (['telemetry.secrets'] as const) : []),
    ...(nudgesOnly(ports, own) ? (['webhooks.nudge'] as const) : []),
  ]
  const needy = ports.filter((port) => PORTS_WITH_RIGHTS.has(port))
  if (rights.length === 0 && needy.length > 0) {
    const message = `Cannot deploy function "${name}": it uses ${needy.join(', ')} but has no line in infra/aws/grants.ts. Add the rights its code uses.`
    throw new Fault('Bug', 'no_grants', message)
  }
  return rights
}

/** Those of a stage: where no document comes with a request, nobody makes a machine or hands over its role. */
export function stageRights(
  line: Parameters<typeof functionRights>[0],
  { closed }: { readonly closed?: boolean },
): readonly Right[] {
  const rights = functionRights(line)
  return closed === true ? rights.map((right) => (right === 'machine.ensure' ? 'machine.named' : right)) : rights
}

/** Its code calls nothing of the outbox: its appends do, where webhooks are told of them (shared/webhooks/endpoint-deliveries.ts). */
function nudgesOnly(ports: readonly string[], own: readonly Right[]): boolean {
  return ports.includes('outbox') && !own.some((right) => right.startsWith('outbox.'))
}

/** The other ports are computed inside the function, or read what its bundle holds. */
const PORTS_WITH_RIGHTS = new Set([
  'runs',
  'objects',
  'uploads',
  'graph',
  'search',
  'indexing',
  'machine',
  'outbox',
  'secrets',
  'http',
  'shell',
  'slack',
  'webhooks',
  'buses',
  'services',
  'mcp',
  'steps',
  'tokens',
  'waits',
  'spending',
  'triggers',
  'hookKeys',
  'health',
  'anchors',
])

/** An append reads HEAD again where it is refused, looks back through the pages, and moves a long tail into one. */
const APPENDS = ['runs.get', 'runs.query', 'runs.put', 'runs.update'] as const
/** What changes is noted before, in a log that is emptied afterwards. */
const CHANGES_ENTITIES = ['graph.get', 'graph.getAll', 'graph.put', 'graph.delete'] as const

/** Whoever begins an attempt, or asks people about one, judges its gates: they may ask models, services and commands. */
const BEGINS = [
  ...APPENDS,
  'runs.getAll',
  'objects.get',
  'objects.put',
  'machine.answer',
  'outbox.nudge',
  'secrets.read',
  'models.ask',
  'http.request',
  'shell.run',
  'tokens.read',
  'spending.count',
] as const

/** Its inputs are stored before a firing, and found where it is known. */
const KEEPS_FIRINGS = ['triggers.get', 'triggers.put', 'objects.put'] as const

const GRANTS: Readonly<Record<string, readonly Right[]>> = {
  'run-block': [
    ...BEGINS,
    'services.key',
    'mcp.key',
    'graph.get',
    'search.read',
    'steps.collect',
    'waits.forget',
    'live.forget',
  ],
  'wait-join': ['runs.update', 'machine.answer'],
  'request-approval': BEGINS,
  'open-child': [...BEGINS, 'machine.deployed', 'mcp.key'],
  'open-step': [...BEGINS, 'steps.start'],
  'report-step': [...APPENDS, 'runs.getAll', 'objects.get', 'objects.put', 'machine.answer', 'machine.beat'],
  'open-wait': BEGINS,
  'close-module': [...APPENDS, 'runs.getAll', 'objects.get', 'objects.put', 'machine.answer'],
  settle: [...APPENDS, 'runs.getAll', 'objects.get', 'objects.put', 'outbox.nudge'],
  'decide-completion': [...APPENDS, 'objects.get', 'objects.put'],
  'nl-classify': [
    ...APPENDS,
    'objects.get',
    'objects.put',
    'graph.getAll',
    'graph.query',
    'search.read',
    'research.secrets',
    'research.models',
    'embeddings.secrets',
    'spending.count',
  ],
  'route-search': [...APPENDS, 'objects.get', 'objects.put', 'research.secrets', 'research.models', 'spending.count'],
  'execute-subqueries': [
    ...APPENDS,
    'objects.get',
    'objects.put',
    'graph.get',
    'graph.getAll',
    'graph.query',
    'search.read',
    'embeddings.secrets',
    'spending.count',
  ],
  'assess-sufficiency': [
    ...APPENDS,
    'objects.get',
    'objects.put',
    'graph.getAll',
    'graph.query',
    'search.read',
    'research.secrets',
    'research.models',
    'spending.count',
  ],
  'synthesize-answer': [
    ...APPENDS,
    'objects.get',
    'objects.put',
    ...CHANGES_ENTITIES,
    'graph.putAll',
    'graph.query',
    'search.read',
    'research.secrets',
    'research.models',
    'judge.secrets',
    'judge.models',
    'spending.count',
  ],
  'start-run': [
    ...APPENDS,
    'runs.count',
    'spending.read',
    // Who waits for the end is told its outputs.
    'runs.getAll',
    // Artifacts of the run it continues.
    'objects.get',
    'objects.put',
    'mcp.key',
    'machine.ensure',
    'machine.start',
    'outbox.nudge',
    'runs.dequeue',
    // The loop entity of a research run.
    ...CHANGES_ENTITIES,
    'graph.putAll',
  ],
  'retry-run': [
    ...APPENDS,
    'runs.count',
    'spending.read',
    'runs.getAll',
    'objects.get',
    'objects.put',
    'mcp.key',
    'machine.named',
    'outbox.nudge',
    'runs.dequeue',
  ],
  'pivot-run': [
    ...APPENDS,
    'runs.count',
    'spending.read',
    'objects.get',
    'objects.put',
    'outbox.nudge',
    'runs.dequeue',
  ],
  'index-graph': [
    'runs.get',
    'runs.query',
    'runs.put',
    'runs.update',
    'objects.get',
    'objects.put',
    'graph.getAll',
    'graph.list',
    'index.publish',
  ],
  'send-outbox': [
    ...APPENDS,
    'runs.getAll',
    'runs.dequeue',
    'objects.get',
    'machine.answer',
    'machine.stop',
    'outbox.start',
    'outbox.slack',
    'outbox.webhook',
    'outbox.bus',
    'outbox.anchor',
    'outbox.fire',
    'http.request',
    'outbox.nudge',
  ],
  'write-anchor': ['anchors.put'],
  'send-webhooks': [...APPENDS, 'http.request', 'webhooks.sign'],
  'send-bus-events': [...APPENDS, 'buses.put'],
  sweep: [
    ...APPENDS,
    'runs.getAll',
    'runs.due',
    'runs.dequeue',
    'objects.get',
    'machine.describe',
    'outbox.nudge',
    'outbox.mark',
    'outbox.bulk',
  ],
  'fire-triggers': [
    ...APPENDS,
    ...KEEPS_FIRINGS,
    'triggers.query',
    'triggers.forget',
    'spending.read',
    // What blocks of a run that has ended gave.
    'runs.getAll',
    'objects.get',
    'mcp.key',
    'machine.deployed',
    'outbox.nudge',
    'runs.dequeue',
  ],
  'list-triggers': ['triggers.get', 'triggers.query'],
  'get-trigger': ['triggers.get', 'triggers.query'],
  'change-trigger': ['runs.count', 'triggers.get', 'triggers.query', 'triggers.put', 'outbox.fire'],
  'fire-trigger': ['runs.count', 'runs.stored', ...KEEPS_FIRINGS, 'outbox.fire'],
  'try-trigger': ['runs.count', 'triggers.get'],
  // Anybody may send: it reads and writes nothing of runs.
  'take-webhook': ['runs.count', 'runs.stored', ...KEEPS_FIRINGS, 'hooks.verify', 'outbox.fire'],
  // It reads what people drop, and no object of runs.
  'take-object': ['runs.stored', ...KEEPS_FIRINGS, 'drops.read', 'outbox.fire'],
  reconcile: [...APPENDS, 'objects.get', 'machine.describe', 'outbox.nudge'],
  // The one function that deletes items of runs and objects: nobody calls it but to do what a mark says.
  'keep-or-erase': [
    ...APPENDS,
    'runs.list',
    'runs.erase',
    'objects.get',
    'objects.put',
    'objects.erase',
    'machine.describe',
    'graph.list',
    ...CHANGES_ENTITIES,
    'triggers.get',
    'triggers.query',
    'triggers.put',
    'outbox.slack',
  ],
  'run-bulk': [
    ...APPENDS,
    'runs.count',
    'runs.getAll',
    'runs.dequeue',
    'spending.read',
    'objects.get',
    'objects.put',
    'mcp.key',
    'machine.named',
    'tokens.read',
    'outbox.nudge',
    'outbox.mark',
    'outbox.bulk',
  ],
  'plan-bulk': ['runs.getAll', 'runs.query', 'runs.put', 'runs.count'],
  'list-bulks': ['runs.getAll', 'runs.query'],
  'get-bulk': ['runs.get', 'runs.getAll'],
  'change-bulk': ['runs.get', 'runs.update', 'runs.count', 'outbox.bulk'],
  'erase-run': ['runs.get', 'runs.query', 'runs.update', 'runs.count', 'outbox.mark'],
  'get-erasure': ['runs.get'],
  'hold-run': ['runs.get', 'runs.query', 'runs.update', 'runs.count'],
  'release-hold': ['runs.get', 'runs.query', 'runs.update', 'runs.count'],
  'clear-machines': ['machine.clear'],
  'guard-release': ['machine.takeBack'],
  'validate-dag': ['runs.count'],
  'plan-dag': ['runs.count'],
  'get-document': ['runs.get'],
  'list-runs': ['runs.list'],
  'search-runs': ['runs.getAll', 'runs.query'],
  'count-runs': ['runs.getAll', 'runs.query'],
  'list-views': ['runs.query'],
  'put-view': ['runs.query', 'runs.put', 'runs.unview', 'runs.count'],
  'delete-view': ['runs.unview', 'runs.count'],
  'list-notes': ['runs.get', 'runs.query'],
  'add-note': ['runs.get', 'runs.query', 'runs.put', 'runs.update', 'runs.count'],
  // A short id is looked up in the list.
  'get-run': ['runs.get', 'runs.query', 'runs.list', 'objects.get'],
  'get-block': ['runs.get', 'runs.query', 'objects.get'],
  'get-transcript': ['runs.get', 'runs.query', 'objects.get'],
  'diff-runs': ['runs.get', 'runs.query', 'objects.get'],
  'get-goal': ['runs.get', 'runs.query', 'objects.get'],
  'get-run-graph': ['runs.get', 'runs.query', 'objects.get'],
  'get-outputs': ['runs.get', 'runs.getAll', 'runs.query', 'runs.put', 'objects.get'],
  'replay-run': ['runs.get', 'runs.query'],
  'record-run': ['runs.get', 'runs.query', 'objects.get', 'objects.put'],
  'verify-run': ['runs.get', 'runs.getAll', 'runs.query', 'objects.get', 'machine.describe', 'anchors.read'],
  'stream-events': ['runs.get', 'runs.query', 'runs.lease'],
  'get-context': ['runs.get'],
  'patch-context': [...APPENDS, 'runs.count', 'objects.get'],
  'list-artifacts': ['runs.get', 'runs.query'],
  'get-artifact': ['runs.get', 'runs.query', 'objects.get'],
  'list-approvals': ['runs.get', 'runs.getAll', 'runs.inbox', 'objects.get'],
  'decide-approval': [...APPENDS, 'runs.count', 'objects.get', 'objects.put', 'outbox.nudge'],
  'slack-interactions': ['runs.note', 'outbox.slack', 'slack.verify', 'slack.call'],
  'slack-work': [...APPENDS, 'runs.note', 'runs.noteEnd', 'objects.get', 'objects.put', 'outbox.nudge', 'slack.call'],
  'stop-run': [...APPENDS, 'runs.getAll', 'runs.count', 'objects.get', 'outbox.nudge'],
  'pause-run': [...APPENDS, 'runs.count', 'outbox.nudge'],
  'resume-run': [...APPENDS, 'runs.count', 'runs.dequeue', 'objects.get', 'outbox.nudge'],
  'change-document': ['runs.get', 'runs.update', 'runs.count', 'outbox.fire'],
  'stop-all': [...APPENDS, 'runs.list', 'runs.count', 'outbox.nudge'],
  'release-starts': [...APPENDS, 'runs.count', 'runs.dequeue', 'outbox.nudge'],
  'get-health': ['health.probe'],
  'get-spending': ['spending.read'],
  'raise-spending': ['runs.count', 'spending.count'],
  'get-safety': ['runs.get', 'runs.query'],
  'start-research': [
    ...APPENDS,
    'runs.count',
    'spending.read',
    'runs.dequeue',
    'objects.put',
    'machine.deployed',
    'outbox.nudge',
  ],
  'get-research': ['runs.get', 'runs.query', 'objects.get'],
  'put-entities': [
    'runs.count',
    'runs.stored',
    ...CHANGES_ENTITIES,
    'graph.putAll',
    'objects.get',
    'objects.put',
    'outbox.graph',
  ],
  'delete-entities': ['runs.count', ...CHANGES_ENTITIES, 'outbox.graph'],
  'delete-entity': ['runs.count', ...CHANGES_ENTITIES, 'outbox.graph'],
  'put-triples': ['runs.count', ...CHANGES_ENTITIES, 'graph.putAll', 'outbox.graph'],
  'get-entity': ['graph.get'],
  'get-neighbors': ['graph.get', 'graph.getAll', 'graph.query', 'search.read'],
  'search-graph': ['graph.getAll', 'search.read'],
  'put-object': ['runs.count', 'runs.stored', 'objects.put'],
  // Who holds the URL puts with its rights.
  'upload-object': ['runs.count', 'runs.stored', 'objects.put'],
  'get-object': ['objects.get'],
  'export-stage': [
    'runs.get',
    'runs.getAll',
    'runs.query',
    'objects.get',
    'graph.getAll',
    'graph.list',
    'triggers.get',
    'triggers.query',
    'spending.read',
  ],
  'import-stage': [
    'runs.count',
    'runs.stored',
    'runs.get',
    'runs.query',
    'runs.put',
    'runs.update',
    'objects.get',
    'objects.put',
    'graph.get',
    'graph.getAll',
    'graph.put',
    'graph.putAll',
    'graph.delete',
    'outbox.graph',
    'triggers.get',
    'triggers.put',
    'spending.read',
    'spending.count',
  ],
  'test-webhook': ['runs.count', 'http.request', 'webhooks.sign', 'buses.put'],
  'list-dead-webhooks': ['runs.dead'],
  'replay-webhook': [
    'runs.get',
    'runs.query',
    'runs.update',
    'runs.count',
    'http.request',
    'webhooks.sign',
    'buses.put',
  ],
  'send-event': [
    ...APPENDS,
    'runs.getAll',
    'runs.count',
    'waits.forget',
    'objects.get',
    'objects.put',
    'outbox.nudge',
    'outbox.fire',
  ],
  'receive-event': [
    ...APPENDS,
    'runs.getAll',
    'waits.forget',
    'objects.get',
    'objects.put',
    'outbox.nudge',
    'outbox.fire',
  ],
  'answer-callback': [...APPENDS, 'runs.getAll', 'objects.get', 'objects.put', 'outbox.nudge'],
  authorize: ['tokens.read'],
  'list-tokens': ['tokens.list'],
  'create-token': ['runs.count', 'tokens.put'],
  'revoke-token': ['runs.count', 'tokens.revoke'],
}

/**
 * What a function may do: rights are named after a port and what is done with it; access.ts says which IAM actions on
 * which resources each is. A test holds this table equal to what the handlers' code calls, method by method.
 */
export type Right =
  | 'runs.get'
  | 'runs.getAll'
  | 'runs.query'
  | 'runs.put'
  | 'runs.update'
  | 'runs.list'
  | 'runs.inbox'
  | 'runs.dead'
  | 'runs.due'
  | 'runs.dequeue'
  | 'runs.erase'
  | 'runs.unview'
  | 'spending.read'
  | 'spending.count'
  | 'runs.note'
  | 'runs.noteEnd'
  | 'runs.count'
  | 'runs.stored'
  | 'runs.lease'
  | 'waits.forget'
  | 'triggers.get'
  | 'triggers.query'
  | 'triggers.put'
  | 'triggers.forget'
  | 'hooks.verify'
  | 'drops.read'
  | 'live.forget'
  | 'objects.get'
  | 'objects.put'
  | 'objects.erase'
  | 'graph.get'
  | 'graph.getAll'
  | 'graph.query'
  | 'graph.put'
  | 'graph.putAll'
  | 'graph.delete'
  | 'graph.list'
  | 'search.read'
  | 'index.publish'
  | 'machine.answer'
  | 'machine.beat'
  | 'steps.start'
  | 'steps.collect'
  | 'machine.ensure'
  | 'machine.deployed'
  | 'machine.named'
  | 'machine.start'
  | 'machine.clear'
  | 'machine.takeBack'
  | 'machine.describe'
  | 'machine.stop'
  | 'outbox.nudge'
  | 'outbox.start'
  | 'outbox.slack'
  | 'outbox.webhook'
  | 'outbox.bulk'
  | 'outbox.bus'
  | 'buses.put'
  | 'outbox.graph'
  | 'outbox.fire'
  | 'outbox.mark'
  | 'slack.verify'
  | 'slack.call'
  | 'webhooks.sign'
  | 'services.key'
  | 'mcp.key'
  | 'webhooks.nudge'
  | 'outbox.anchor'
  | 'anchors.put'
  | 'anchors.read'
  | 'health.probe'
  | 'tokens.read'
  | 'tokens.list'
  | 'tokens.put'
  | 'tokens.revoke'
  | 'secrets.read'
  | 'models.ask'
  | 'research.secrets'
  | 'research.models'
  | 'embeddings.secrets'
  | 'judge.secrets'
  | 'judge.models'
  | 'telemetry.secrets'
  | 'http.request'
  | 'shell.run'

/**
 * The inline policy a right stands in: those on items or objects of one port, which have one resource and condition, share one,
 * so that what names each tenant is said once.
 */
export function policyName(right: Right): string {
  return SHARES.test(right) ? right.slice(0, right.indexOf('.')) : right
}

const SHARES =
  /^(runs|graph|triggers|objects)\.(get|getAll|query|put|putAll|update|delete)$|^(runs\.list|runs\.erase|objects\.erase)$/
