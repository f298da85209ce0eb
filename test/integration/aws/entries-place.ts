import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { openDocuments, openModules } from '../../../functions/aws/documents.ts'
import { lambdaEntry, streamEntry } from '../../../functions/aws/entry.ts'
import { openOutbox } from '../../../functions/aws/function-calls.ts'
import { openMachine } from '../../../functions/aws/machine.ts'
import { openObjects } from '../../../functions/aws/objects.ts'
import { openDescribedSteps, openInputs, openWaker } from '../../../functions/aws/ports-without-sdk.ts'
import { openProviders } from '../../../functions/aws/providers.ts'
import { openSpending } from '../../../functions/aws/spending.ts'
import { openWaits } from '../../../functions/aws/waits.ts'
import type { PortOpeners } from '../../../functions/aws/world.ts'
import { createIsolate } from '../../../functions/isolate/isolate-pool.ts'
import { FUNCTIONS } from '../../../shared/catalog.ts'
import { ROUTES } from '../../../shared/routes.ts'
import { ACCOUNT, REGION } from '../../emulators/aws-client.ts'
import { type EmulatedFunction, startLambda } from '../../emulators/lambda.ts'
import { installLambdaRuntime } from '../../emulators/lambda-runtime.ts'
import { type S3Emulator, startS3 } from '../../emulators/s3.ts'
import { startStepFunctions } from '../../emulators/step-functions.ts'
import { lambdaArn } from './aws-settings.ts'

interface Wanted {
  /** The table and where it lies: of when machines were used, and of what `stores` opens there. */
  readonly table: string
  readonly aws: DynamoDBClientConfig
  readonly stores: PortOpeners
  /** Calls of machines under way at once, as an account has a limit; the others wait. */
  readonly at_once?: number
  /** Absent = one that knows no versions. */
  readonly s3?: S3Emulator
}

/**
 * Every function of the catalog behind its Lambda entry, with exactly the ports of its line: objects, machine, outbox,
 * waker, providers and inputs of AWS over the wire, and the stores that are handed in.
 */
export async function startEntries({ table, aws, stores, at_once = Number.POSITIVE_INFINITY, s3: given }: Wanted) {
  const isolate = createIsolate()
  const runtime = installLambdaRuntime()
  const functions: Record<string, EmulatedFunction> = {}
  const streams: Record<string, unknown> = {}
  const called: string[] = []
  const s3 = given ?? (await startS3())
  const lambda = await startLambda({ functions, timeoutMs: 300_000 })
  const turns = takeTurns(at_once)
  const states = await startStepFunctions({ invoke: (arn, payload) => turns(() => lambda.invoke(arn, payload)) })
  const openers: PortOpeners = {
    objects: (core) => openObjects(core, s3.config),
    machine: (core) => openMachine(core, states.aws, aws),
    outbox: (core) => openOutbox(core, lambda.aws),
    providers: openProviders,
    inputs: openInputs,
    documents: openDocuments,
    modules: openModules,
    steps: openDescribedSteps,
    isolate: () => isolate,
    waker: openWaker,
    spending: (core) => openSpending(core, aws),
    waits: (core) => openWaits(core, aws),
    ...stores,
  }
  const arns = FUNCTIONS.map(({ name }) => [`${name.toUpperCase().replaceAll('-', '_')}_ARN`, lambdaArn(name)])
  const env = {
    STAGE: 'test',
    AWS_REGION: REGION,
    SLUICE_LOG: 'error',
    BUCKET: s3.bucket,
    TABLE: table,
    STATE_MACHINE_ROLE_ARN: `arn:aws:iam::${ACCOUNT}:role/sluice-test-machines`,
    ...Object.fromEntries(arns),
  }
  for (const { name, file, ports } of FUNCTIONS) {
    const { handler } = await import(/* @vite-ignore */ new URL(`../../../functions/${file}`, import.meta.url).href)
    const own = Object.fromEntries(Object.entries(openers).filter(([port]) => ports.includes(port)))
    if (ROUTES.some((route) => route.name === name && route.stream === true)) {
      streams[name] = streamEntry({ name, handler, ports: own }, env)
      continue
    }
    const entry = lambdaEntry({ name, handler, ports: own }, env)
    functions[`sluice-test-${name}`] = (event, context) => {
      called.push(name)
      return entry(event, context)
    }
  }
  return {
    lambda,
    states,
    runtime,
    streams,
    /** Names of functions that were called, in order. */
    called,
    /** Calls a route as API Gateway does. */
    async call(name: string, runId?: string, body?: unknown, more?: object) {
      const answer = await lambda.invoke(lambdaArn(name), routeEvent(body, runId, more))
      const { statusCode, body: text } = answer as { statusCode: number; body: string }
      return { status: statusCode, json: JSON.parse(text) }
    },
    async close() {
      await states.close()
      await lambda.close()
      await s3.close()
      await isolate.close()
    },
  }
}

function takeTurns(most: number) {
  const waiting: (() => void)[] = []
  let now = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (now >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else now += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) now -= 1
      else next()
    }
  }
}

export function routeEvent(body: unknown, runId: string | undefined, more: object = {}) {
  return {
    httpMethod: body === undefined ? 'GET' : 'POST',
    path: '/',
    pathParameters: runId === undefined ? null : { run_id: runId, ...more },
    queryStringParameters: null,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: {
      accountId: ACCOUNT,
      identity: { userArn: `arn:aws:sts::${ACCOUNT}:assumed-role/Deployer/session` },
    },
  }
}
