import { join } from 'node:path'
import { Duration, FileSystem, RemovalPolicy, type Stack } from 'aws-cdk-lib'
import { Rule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets'
import type { IFunction, VersionOptions } from 'aws-cdk-lib/aws-lambda'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { versionedFunction } from '../../shared/runs/release.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { functionsIn } from './function-sizes.ts'
import type { Names } from './names.ts'

/**
 * A version outlives the deployment that replaces it: runs under way call it until they end (`sluice rollout prune`). One that a
 * deployment made and took back goes with it: Lambda publishes the same code once, and the next try would be told that it is there.
 */
export const VERSION_OPTIONS: VersionOptions = { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE }

/**
 * Twelve digits of the hash of what machines call: the same code and settings are the same release. It is in the environment of
 * these functions, so that one that changes publishes a version of each.
 */
export function releaseId(built: string): string {
  const prints = functionsIn('machine').map(({ name }) => [
    name,
    FileSystem.fingerprint(join(built, 'functions', name)),
  ])
  return sha256(JSON.stringify(prints)).slice(0, 12)
}

/** What the machines' texts call: versions are named by the run's input, so another release is no other text. */
export function calledFunctions(
  arns: readonly (readonly [placeholder: string, arn: string])[],
  gradual: boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    arns.map(([placeholder, arn]) => [placeholder, gradual ? versionedFunction(arn, placeholder) : arn]),
  )
}

/** For the environment of who starts runs; the versions are known when they are published. */
export function deployedRelease(stack: Stack, id: string, versions: ReadonlyMap<string, string>): string {
  const code = Object.fromEntries([...versions].map(([placeholder, version]) => [placeholder, `:${version}`]))
  return stack.toJsonString({ id, code })
}

interface ReleaseGuardProps {
  readonly names: Names
  readonly guard: IFunction
  readonly deadLetters: IQueue
}

/** Hands the alarm of the deployed release to guard-release. CloudWatch tells EventBridge of each change, at least once. */
export class ReleaseGuard extends Construct {
  constructor(scope: Construct, id: string, { names, guard, deadLetters }: ReleaseGuardProps) {
    super(scope, id)
    const target = new LambdaTarget(guard, {
      deadLetterQueue: deadLetters,
      maxEventAge: Duration.hours(1),
      retryAttempts: 5,
    })
    new Rule(this, 'Rule', {
      eventPattern: {
        source: ['aws.cloudwatch'],
        detailType: ['CloudWatch Alarm State Change'],
        detail: { alarmName: [names.releaseAlarm], state: { value: ['ALARM'] } },
      },
      targets: [target],
    })
  }
}
