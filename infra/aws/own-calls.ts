import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { IndexSchedule } from './index-schedule.ts'
import type { Names } from './names.ts'
import { StatusChange } from './status-change.ts'
import { SweepSchedule } from './sweep-schedule.ts'

/** Functions that time and events call, by name. */
export function addOwnCalls(
  scope: Construct,
  functions: ReadonlyMap<string, IFunction>,
  { names, deadLetters }: { readonly names: Names; readonly deadLetters: IQueue },
): void {
  const sweep = functions.get('sweep')
  if (sweep !== undefined) new SweepSchedule(scope, 'EachMinute', { sweep, deadLetters })
  const reconcile = functions.get('reconcile')
  if (reconcile !== undefined) new StatusChange(scope, 'StatusChange', { names, reconcile, deadLetters })
  const indexGraph = functions.get('index-graph')
  if (indexGraph !== undefined) new IndexSchedule(scope, 'Index', { indexGraph, deadLetters })
}
