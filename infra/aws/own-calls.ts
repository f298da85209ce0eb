import { Duration } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { MAIN_TENANT } from '../../shared/principal.ts'
import { IndexSchedule } from './index-schedule.ts'
import type { Names } from './names.ts'
import { RateSchedule } from './rate-schedule.ts'
import { StatusChange } from './status-change.ts'

interface OwnCalls {
  readonly names: Names
  readonly deadLetters: IQueue
  readonly tenants: readonly string[]
}

/** Functions that time and events call, by name. */
export function addOwnCalls(
  scope: Construct,
  functions: ReadonlyMap<string, IFunction>,
  { names, deadLetters, tenants }: OwnCalls,
): void {
  for (const { name, id, every } of RATES) {
    const called = functions.get(name)
    if (called !== undefined) new RateSchedule(scope, id, { called, every, deadLetters })
  }
  const reconcile = functions.get('reconcile')
  if (reconcile !== undefined) new StatusChange(scope, 'StatusChange', { names, reconcile, deadLetters })
  const indexGraph = functions.get('index-graph')
  if (indexGraph === undefined) return
  for (const tenant of tenants) {
    const id = tenant === MAIN_TENANT ? 'Index' : `Index-${tenant}`
    new IndexSchedule(scope, id, { indexGraph, deadLetters, tenant })
  }
}

/**
 * The sweep also finds executions whose end the status-change rule missed (docs/architecture.md, "Effects on the
 * world").
 */
const RATES = [
  { name: 'sweep', id: 'EachMinute', every: Duration.minutes(1) },
  { name: 'clear-machines', id: 'InlineMachines', every: Duration.hours(1) },
] as const
