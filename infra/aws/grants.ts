import { Fault } from '../../shared/errors.ts'

/**
 * What a function may do: rights are named after a port and what is done with it; access.ts says which IAM actions on
 * which resources each is. A test holds this table equal to what the handlers' code calls, method by method.
 */
export type Right =
  | 'runs.read'
  | 'runs.list'
  | 'runs.inbox'
  | 'runs.due'
  | 'runs.write'
  | 'runs.dequeue'
  | 'runs.note'
  | 'runs.count'
  | 'objects.get'
  | 'objects.put'
  | 'graph.read'
  | 'graph.list'
  | 'graph.write'
  | 'search.read'
  | 'index.publish'
  | 'machine.answer'
  | 'machine.ensure'
  | 'machine.deployed'
  | 'machine.named'
  | 'machine.start'
  | 'machine.describe'
  | 'machine.stop'
  | 'outbox.nudge'
  | 'outbox.start'
  | 'outbox.slack'
  | 'outbox.graph'
  | 'slack.verify'
  | 'slack.call'
  | 'secrets.read'
  | 'models.ask'
  | 'research.secrets'
  | 'research.models'
  | 'embeddings.secrets'
  | 'http.request'
  | 'shell.run'

/** The rights of a function; Fault Bug no_grants when it uses a port that needs some and has no line here. */
export function rightsOf({
  name,
  ports,
}: {
  readonly name: string
  readonly ports: readonly string[]
}): readonly Right[] {
  const rights = GRANTS[name] ?? []
  const needy = ports.filter((port) => PORTS_WITH_RIGHTS.has(port))
  if (rights.length === 0 && needy.length > 0) {
    const message = `Cannot deploy function "${name}": it uses ${needy.join(', ')} but has no line in infra/aws/grants.ts. Add the rights its code uses.`
    throw new Fault('Bug', 'no_grants', message)
  }
  return rights
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
])

const GRANTS: Readonly<Record<string, readonly Right[]>> = {
  'run-block': [
    'runs.read',
    'runs.write',
    'objects.get',
    'objects.put',
    'machine.answer',
    'outbox.nudge',
    'secrets.read',
    'models.ask',
    'http.request',
    'shell.run',
  ],
  'wait-join': ['runs.write', 'machine.answer'],
  'request-approval': [
    'runs.read',
    'runs.write',
    'objects.get',
    'objects.put',
    'machine.answer',
    'outbox.nudge',
    'secrets.read',
    'models.ask',
    'http.request',
    'shell.run',
  ],
  'open-child': [
    'runs.read',
    'runs.write',
    'objects.get',
    'objects.put',
    'machine.answer',
    'machine.deployed',
    'outbox.nudge',
    'secrets.read',
    'models.ask',
    'http.request',
    'shell.run',
  ],
  'close-module': ['runs.read', 'runs.write', 'objects.get', 'objects.put', 'machine.answer'],
  settle: ['runs.read', 'runs.write', 'objects.get', 'objects.put', 'outbox.nudge'],
  'decide-completion': ['runs.read', 'runs.write', 'objects.get', 'objects.put'],
  'nl-classify': [
    'runs.read',
    'runs.write',
    'objects.get',
    'objects.put',
    'graph.read',
    'search.read',
    'research.secrets',
    'research.models',
    'embeddings.secrets',
  ],
  'route-search': ['runs.read', 'runs.write', 'objects.get', 'objects.put', 'research.secrets', 'research.models'],
  'execute-subqueries': [
    'runs.read',
    'runs.write',
    'objects.get',
    'objects.put',
    'graph.read',
    'search.read',
    'embeddings.secrets',
  ],
  'assess-sufficiency': [
    'runs.read',
    'runs.write',
    'objects.get',
    'objects.put',
    'graph.read',
    'research.secrets',
    'research.models',
  ],
  'synthesize-answer': [
    'runs.read',
    'runs.write',
    'objects.get',
    'objects.put',
    'graph.read',
    'graph.write',
    'research.secrets',
    'research.models',
  ],
  'start-run': [
    'runs.read',
    'runs.write',
    'runs.count',
    // Artifacts of the run it continues.
    'objects.get',
    'objects.put',
    'machine.ensure',
    'machine.start',
    'outbox.nudge',
    'runs.dequeue',
    // The loop entity of a research run.
    'graph.write',
  ],
  'retry-run': [
    'runs.read',
    'runs.write',
    'runs.count',
    'objects.get',
    'objects.put',
    'machine.named',
    'outbox.nudge',
    'runs.dequeue',
  ],
  'pivot-run': ['runs.read', 'runs.write', 'runs.count', 'objects.get', 'objects.put', 'outbox.nudge', 'runs.dequeue'],
  'index-graph': [
    'runs.read',
    'runs.write',
    'objects.get',
    'objects.put',
    'graph.read',
    'graph.list',
    'index.publish',
    'outbox.graph',
  ],
  'send-outbox': [
    'runs.read',
    'runs.write',
    'runs.dequeue',
    'objects.get',
    'machine.answer',
    'machine.stop',
    'outbox.start',
    'outbox.slack',
    'outbox.nudge',
    'http.request',
  ],
  sweep: ['runs.read', 'runs.write', 'runs.due', 'runs.dequeue', 'objects.get', 'machine.describe', 'outbox.nudge'],
  reconcile: ['runs.read', 'runs.write', 'objects.get', 'machine.describe', 'outbox.nudge'],
  'list-runs': ['runs.list'],
  'get-run': ['runs.read', 'objects.get'],
  'diff-runs': ['runs.read', 'objects.get'],
  'get-goal': ['runs.read', 'objects.get'],
  'get-run-graph': ['runs.read', 'objects.get'],
  'get-outputs': ['runs.read', 'runs.write', 'objects.get'],
  'replay-run': ['runs.read'],
  'record-run': ['runs.read', 'objects.get', 'objects.put'],
  'verify-run': ['runs.read', 'objects.get', 'machine.describe'],
  'stream-events': ['runs.read'],
  'get-context': ['runs.read'],
  'patch-context': ['runs.read', 'runs.write', 'runs.count'],
  'list-artifacts': ['runs.read'],
  'get-artifact': ['runs.read', 'objects.get'],
  'list-approvals': ['runs.read', 'runs.inbox', 'objects.get'],
  'decide-approval': ['runs.read', 'runs.write', 'runs.count', 'objects.get', 'objects.put', 'outbox.nudge'],
  'slack-interactions': ['runs.note', 'outbox.slack', 'slack.verify', 'slack.call'],
  'slack-work': ['runs.read', 'runs.write', 'runs.note', 'objects.get', 'objects.put', 'outbox.nudge', 'slack.call'],
  'stop-run': ['runs.read', 'runs.write', 'runs.count', 'objects.get', 'outbox.nudge'],
  'stop-all': ['runs.read', 'runs.list', 'runs.write', 'runs.count', 'outbox.nudge'],
  'release-starts': ['runs.read', 'runs.write', 'runs.count', 'runs.dequeue', 'outbox.nudge'],
  'get-safety': ['runs.read'],
  'start-research': [
    'runs.read',
    'runs.write',
    'runs.count',
    'runs.dequeue',
    'objects.put',
    'machine.deployed',
    'outbox.nudge',
  ],
  'get-research': ['runs.read', 'objects.get'],
  'put-entities': ['runs.count', 'graph.write', 'outbox.graph'],
  'delete-entities': ['runs.count', 'graph.write', 'outbox.graph'],
  'delete-entity': ['runs.count', 'graph.write', 'outbox.graph'],
  'put-triples': ['runs.count', 'graph.write', 'outbox.graph'],
  'get-entity': ['graph.read'],
  'get-neighbors': ['graph.read'],
  'search-graph': ['search.read'],
  'put-object': ['runs.count', 'objects.put'],
  // Who holds the URL puts with its rights.
  'upload-object': ['runs.count', 'objects.put'],
  'get-object': ['objects.get'],
}
