import { Duration, Stack } from 'aws-cdk-lib'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { sha256 } from '../../shared/text/hash.ts'
import type { ObjectTrigger, Trigger } from '../../shared/triggers/trigger.ts'
import type { Names } from './names.ts'

/** A trigger, and the slug of the document it stands in. */
export interface DocumentTrigger {
  readonly slug: string
  readonly trigger: Trigger
}

interface FiringTimesProps {
  readonly fire: IFunction
  readonly names: Names
  readonly deadLetters: IQueue
  readonly triggers: readonly DocumentTrigger[]
}

/**
 * When fire-triggers looks: at the times of each schedule, by EventBridge Scheduler, and each minute, for what a call that was
 * lost left, for events, and for times that Scheduler has otherwise (docs/triggers.md, "Here and on AWS"). Which times there are, and
 * what is made up for, the function says itself: a call too many finds nothing to do.
 */
export class FiringTimes extends Construct {
  constructor(scope: Construct, id: string, { fire, names, deadLetters, triggers }: FiringTimesProps) {
    super(scope, id)
    const each = new LambdaFunction(fire, {
      event: RuleTargetInput.fromObject({}),
      deadLetterQueue: deadLetters,
      maxEventAge: Duration.minutes(1),
      retryAttempts: 0,
    })
    new Rule(this, 'EachMinute', { schedule: Schedule.rate(Duration.minutes(1)), targets: [each] })
    const schedules = triggers.flatMap((one) => schedulesOf(one, names))
    if (schedules.length === 0) return
    const role = this.addRole(fire, deadLetters)
    for (const { name, expression, timezone } of schedules) {
      new CfnSchedule(this, name, {
        name,
        description: 'Sluice: a time of a trigger',
        flexibleTimeWindow: { mode: 'OFF' },
        scheduleExpression: expression,
        scheduleExpressionTimezone: timezone,
        target: {
          arn: fire.functionArn,
          roleArn: role.roleArn,
          input: '{}',
          retryPolicy: { maximumEventAgeInSeconds: 300, maximumRetryAttempts: 5 },
          deadLetterConfig: { arn: deadLetters.queueArn },
        },
      })
    }
  }

  /** What Scheduler may: call this function, and put away what it could not deliver. */
  private addRole(fire: IFunction, deadLetters: IQueue): Role {
    const { account } = Stack.of(this)
    const allow = (action: string, resource: string) =>
      new PolicyDocument({ statements: [new PolicyStatement({ actions: [action], resources: [resource] })] })
    return new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        // Not on behalf of another account's schedule.
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
      inlinePolicies: {
        fire: allow('lambda:InvokeFunction', fire.functionArn),
        'dead-letters': allow('sqs:SendMessage', deadLetters.queueArn),
      },
    })
  }
}

interface DroppedObjectsProps {
  readonly take: IFunction
  readonly names: Names
  readonly deadLetters: IQueue
  readonly triggers: readonly DocumentTrigger[]
}

/**
 * What is dropped, to take-object: a rule a document, for its keys alone, each of which may call that function and nothing
 * else. S3 tells EventBridge at least once, and in any order.
 */
export class DroppedObjects extends Construct {
  constructor(scope: Construct, id: string, { take, names, deadLetters, triggers }: DroppedObjectsProps) {
    super(scope, id)
    const { account, region } = Stack.of(this)
    const bucket = names.drops(account, region)
    const ofDocuments = Map.groupBy(triggers, ({ slug }) => slug)
    for (const [slug, own] of ofDocuments) {
      const keys = own.flatMap(({ trigger }) => (trigger.kind === 'object' ? [keyPattern(trigger)] : []))
      if (keys.length === 0) continue
      new Rule(this, slug, {
        description: `Sluice: what is dropped for ${slug}`,
        eventPattern: {
          source: ['aws.s3'],
          detailType: ['Object Created'],
          detail: { bucket: { name: [bucket] }, object: { key: keys } },
        },
        targets: [
          new LambdaFunction(take, {
            deadLetterQueue: deadLetters,
            maxEventAge: Duration.hours(24),
            retryAttempts: 10,
          }),
        ],
      })
    }
  }
}

/** Source: EventBridge guide, "Wildcard matching": a star is anything; itself, and the backslash, are written after one. */
function keyPattern({ object: { prefix, suffix } }: ObjectTrigger): object {
  const literal = (text: string) => text.replaceAll(/[*\\]/g, (one) => `\\${one}`)
  return { wildcard: `${literal(prefix)}*${literal(suffix)}` }
}

interface NamedSchedule {
  readonly name: string
  readonly expression: string
  readonly timezone: string
}

/** Names of schedules have 64 characters at the most. */
const MOST_NAME = 64

function schedulesOf({ slug, trigger }: DocumentTrigger, names: Names): readonly NamedSchedule[] {
  if (trigger.kind !== 'schedule') return []
  const { cron, timezone } = trigger.schedule
  const whole = names.machine(`${slug}-${trigger.name}`)
  const hash = sha256(JSON.stringify([slug, trigger.name])).slice(0, 8)
  const name = `${whole.slice(0, MOST_NAME - hash.length - 3)}-${hash}`
  const expressions = schedulerExpressions(cron)
  return expressions.map((expression, i) => ({ name: i === 0 ? name : `${name}-${i + 1}`, expression, timezone }))
}

const RANGES = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const
const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/**
 * The same as EventBridge Scheduler writes it: six fields, days of the week by their names, and one of the two fields of days
 * left open. cron takes a day that fits either of them where both are given, so that is two expressions.
 */
export function schedulerExpressions(cron: string): readonly string[] {
  const [minute = '*', hour = '*', day = '*', month = '*', weekday = '*'] = cron.trim().split(/\s+/)
  const [minutes, hours, days, months] = [minute, hour, day, month].map((field, i) => numbersText(field, i))
  const names = weekdays(weekday)
  const anyDay = days === '*'
  const anyWeekday = names === '*'
  const written = (ofMonth: string | undefined, ofWeek: string) =>
    `cron(${minutes} ${hours} ${ofMonth} ${months} ${ofWeek} *)`
  if (anyWeekday) return [written(days, '?')]
  return anyDay ? [written('?', names)] : [written(days, '?'), written('?', names)]
}

function weekdays(field: string): string {
  const found = new Set(numbersOf(field, 4).map((day) => day % 7))
  return found.size === 7 ? '*' : DAYS.filter((_, i) => found.has(i)).join(',')
}

/** Ranges where numbers follow each other: an expression has 256 characters. */
function numbersText(field: string, index: number): string {
  const [first, last] = RANGES[index] ?? [0, 0]
  const numbers = numbersOf(field, index)
  if (numbers.length === last - first + 1) return '*'
  const spans: [number, number][] = []
  for (const number of numbers) {
    const span = spans.at(-1)
    if (span !== undefined && number === span[1] + 1) span[1] = number
    else spans.push([number, number])
  }
  return spans.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',')
}

/** The numbers a field means, in order; its syntax was checked with the document. */
function numbersOf(field: string, index: number): readonly number[] {
  const [first, last] = RANGES[index] ?? [0, 0]
  const found = new Set<number>()
  for (const part of field.split(',')) {
    const [span = '*', step = '1'] = part.split('/')
    const [low = span, high = low] = span.split('-')
    const from = span === '*' ? first : numberOf(low, index)
    const to = span === '*' ? (index === 4 ? 6 : last) : numberOf(high, index)
    for (let number = from; number <= to; number += Number(step)) found.add(number)
  }
  return [...found].toSorted((a, b) => a - b)
}

function numberOf(text: string, index: number): number {
  const names = index === 3 ? MONTHS : DAYS
  const at = names.indexOf(text.toUpperCase())
  return at === -1 ? Number(text) : at + (index === 3 ? 1 : 0)
}
