import type { Stack } from 'aws-cdk-lib'
import { FUNCTIONS, type FunctionLine } from '../../shared/catalog.ts'
import { functionArn } from './access.ts'
import { type Right, rightsOf } from './grants.ts'
import type { Names } from './names.ts'

/** What only the stack of the machines knows; who starts runs is told. */
export interface MachineFacts {
  readonly roleArn: string
  readonly logGroupArn: string
  /** JSON {machine name: version ARN}. */
  readonly versionArns: string
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
    ...(has('runs.') ? { TABLE: names.table } : {}),
    ...(has('objects.') ? { BUCKET: names.bucket(stack.account, stack.region) } : {}),
    ...(has('outbox.nudge') ? arns('send-outbox') : {}),
    ...(has('outbox.start') ? arns('start-run') : {}),
    // The name alone: without a workspace nobody calls it.
    ...(has('outbox.slack') ? arns('slack-work') : {}),
    ...(has('http.request') ? arns('net-gate') : {}),
    // The name alone: without shell gates nobody calls it.
    ...(has('shell.run') ? arns('shell-gate') : {}),
    ...(has('machine.ensure') ? { ...arns(...machineFunctions), ...machineVariables(facts) } : {}),
    ...(has('machine.deployed') && facts !== undefined ? { MACHINE_ARNS: facts.versionArns } : {}),
    ...(has('machine.named') && facts !== undefined ? machineNames(facts) : {}),
  }
}

function machineVariables(facts: MachineFacts | undefined): Record<string, string> {
  return facts === undefined ? {} : { ...machineNames(facts), MACHINE_LOG_GROUP_ARN: facts.logGroupArn }
}

/** The role's ARN also says in which account inline machines are. */
function machineNames({ roleArn, versionArns }: MachineFacts): Record<string, string> {
  return { STATE_MACHINE_ROLE_ARN: roleArn, MACHINE_ARNS: versionArns }
}

function arnVariable(name: string): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_ARN`
}
