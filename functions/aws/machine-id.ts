import { type FunctionEnvironment, requiredVariable } from './core.ts'

/**
 * What the Machine port calls a machine here: its ARN, of a version where there is one; with parts `+<how many>` behind
 * it, and `.<hash>` where the names of the parts end in one. So whoever stops a run knows every execution it may have.
 */
export interface MachineId {
  readonly arn: string
  readonly parts: number
  /** Behind the number in the names of parts. */
  readonly suffix: string
}

export function writeMachineId({ arn, parts, suffix }: MachineId): string {
  return parts === 0 ? arn : `${arn}+${parts}${suffix.replace('_', '.')}`
}

export function readMachineId(id: string): MachineId {
  const [, arn = id, parts = '0', hash] = /^(.+)\+(\d+)(?:\.(\w+))?$/.exec(id) ?? []
  return { arn, parts: Number(parts), suffix: hash === undefined ? '' : `_${hash}` }
}

/** ARN of part k: the machine's name, `_`, the number. No name of a whole machine holds a `_`. */
export function partArn({ arn, suffix }: MachineId, part: number): string {
  return `${arn.split(':').slice(0, 7).join(':')}_${part}${suffix}`
}

/** ARN of a machine of this deployment, in the account of its role. */
export function machineArn(env: FunctionEnvironment, name: string): string {
  const [, partition = '', , , account = ''] = requiredVariable(env, 'STATE_MACHINE_ROLE_ARN').split(':')
  return `arn:${partition}:states:${env.AWS_REGION}:${account}:stateMachine:${name}`
}
