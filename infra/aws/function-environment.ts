import type { Stack } from 'aws-cdk-lib'
import { FUNCTIONS, type FunctionLine } from '../../shared/catalog.ts'
import { functionArn } from './access.ts'
import { rightsOf } from './grants.ts'
import type { Names } from './names.ts'
import type { Right } from './right.ts'

/** What only the stack of the machines knows; who makes machines is told. */
export interface MachineFacts {
  readonly roleArn: string
  readonly logGroupArn: string
}

/**
 * The environment of one function, as functions/aws/settings.ts reads it: names and ARNs of what it has a right to,
 * nothing else, never a secret.
 */
export function environmentOf(
  line: FunctionLine,
  stack: Stack,
  names: Names,
  facts?: MachineFacts,
): Record<string, string> {
  const rights = rightsOf(line)
  const has = (start: string) => rights.some((right: Right) => right.startsWith(start))
  const arns = (...functions: readonly string[]) =>
    Object.fromEntries(functions.map((name) => [arnVariable(name), functionArn(stack, names, name)]))
  const machineFunctions = FUNCTIONS.filter(({ placeholder }) => placeholder !== undefined).map(({ name }) => name)
  return {
    STAGE: names.stage,
    ...(OF_TABLE.some(has) ? { TABLE: names.table } : {}),
    ...(OF_BUCKET.some(has) ? { BUCKET: names.bucket(stack.account, stack.region) } : {}),
    ...(has('anchors.') ? { ANCHORS: names.anchors(stack.account, stack.region) } : {}),
    ...arns(...CALLED.filter(([right]) => rights.includes(right)).map(([, name]) => name)),
    ...(has('machine.ensure') ? { ...arns(...machineFunctions), ...machineVariables(facts) } : {}),
    ...(OF_ROLE.some(has) && facts !== undefined ? { STATE_MACHINE_ROLE_ARN: facts.roleArn } : {}),
  }
}

/** Functions that others call; some are named without being there: nobody calls what the settings do not ask for. */
const CALLED: readonly (readonly [Right, string])[] = [
  ['outbox.nudge', 'send-outbox'],
  ['webhooks.nudge', 'send-outbox'],
  ['outbox.start', 'start-run'],
  ['outbox.graph', 'index-graph'],
  ['outbox.slack', 'slack-work'],
  ['outbox.webhook', 'send-webhooks'],
  ['outbox.anchor', 'write-anchor'],
  ['http.request', 'net-gate'],
  ['shell.run', 'shell-gate'],
]
const OF_TABLE = ['runs.', 'graph.', 'search.', 'index.', 'tokens.', 'health.', 'machine.clear']
const OF_ROLE = ['machine.clear', 'machine.named', 'machine.deployed']
const OF_BUCKET = ['objects.', 'search.', 'index.']

/** The role's ARN also says in which account inline machines are. */
function machineVariables(facts: MachineFacts | undefined): Record<string, string> {
  return facts === undefined ? {} : { STATE_MACHINE_ROLE_ARN: facts.roleArn, MACHINE_LOG_GROUP_ARN: facts.logGroupArn }
}

function arnVariable(name: string): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_ARN`
}
