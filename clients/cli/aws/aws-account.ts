import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import {
  DeleteFunctionConcurrencyCommand,
  GetAccountSettingsCommand,
  GetFunctionConcurrencyCommand,
  LambdaClient,
  PutFunctionConcurrencyCommand,
} from '@aws-sdk/client-lambda'
import { Refused } from '../terminal/refused.ts'
import { type AwsCaller, awsCaller, type CallerOptions } from './aws-caller.ts'
import { awsRefusal } from './aws-refusal.ts'

/** Where a deployment goes. */
export interface AwsAccount {
  readonly account: string
  readonly region: string
  /** Of the CDK's own stack there. */
  readonly bootstrap: string
  concurrency(): Promise<Executions>
  /** How many of them a function has reserved; one that is not there has none. */
  reservedBy(functionName: string): Promise<number>
  /** Reserves so many for it, which are then the most that it runs at once; undefined takes the reservation back. */
  reserve(functionName: string, executions: number | undefined): Promise<void>
  /** Parameters of a stack; undefined = there is none of that name. */
  parameters(stackName: string): Promise<Readonly<Record<string, string>> | undefined>
}

/** Refused where there are no credentials or no region, or the CDK was never bootstrapped. */
export async function openAccount(options: CallerOptions): Promise<AwsAccount> {
  const caller = awsCaller(options)
  const region = await caller.region()
  await caller.credentials()
  const { account, version } = await bootstrapOf(caller, region)
  return {
    account,
    region,
    bootstrap: version,
    concurrency: () => fetchConcurrency(caller),
    reservedBy: (name) => fetchReservedConcurrency(caller, name),
    reserve: (name, executions) => reserveConcurrency(caller, name, executions),
    async parameters(StackName) {
      const asked = caller.cloudFormation.send(new DescribeStacksCommand({ StackName })).catch((error: unknown) => {
        if (/does not exist/.test(String(error))) return undefined
        throw awsRefusal(error)
      })
      const stack = (await asked)?.Stacks?.[0]
      const entries = (stack?.Parameters ?? []).map(({ ParameterKey = '', ParameterValue = '' }) => {
        return [ParameterKey, ParameterValue] as const
      })
      return stack && Object.fromEntries(entries)
    },
  }
}

/** The name the CDK gives its stack; its ARN says whose account it is. */
const TOOLKIT = 'CDKToolkit'

async function bootstrapOf({ cloudFormation }: ReturnType<typeof awsCaller>, region: string) {
  const found = await cloudFormation.send(new DescribeStacksCommand({ StackName: TOOLKIT })).catch((error: unknown) => {
    throw /does not exist/.test(String(error)) ? notBootstrapped(region) : awsRefusal(error)
  })
  const stack = found.Stacks?.[0]
  const version = stack?.Outputs?.find(({ OutputKey }) => OutputKey === 'BootstrapVersion')?.OutputValue
  if (version === undefined) throw notBootstrapped(region)
  return { account: stack?.StackId?.split(':')[4] ?? 'unknown', version }
}

function notBootstrapped(region: string): Refused {
  const detail = `The CDK is not bootstrapped in ${region}: there is no stack "${TOOLKIT}" with a BootstrapVersion. Run \`npx cdk bootstrap\` once for this account and region, with credentials that may create roles and a bucket.`
  return new Refused({ code: 'not_bootstrapped', detail })
}

/** Concurrent executions of Lambda an account may have in a region, and how many of them nobody reserved. */
export interface Executions {
  readonly limit: number
  readonly free: number
}

export async function fetchConcurrency({ credentials, region }: AwsCaller): Promise<Executions> {
  const lambda = new LambdaClient({ region, credentials, maxAttempts: 3 })
  const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand()).catch((error: unknown) => {
    throw awsRefusal(error)
  })
  const limit = AccountLimit?.ConcurrentExecutions ?? 0
  return { limit, free: AccountLimit?.UnreservedConcurrentExecutions ?? limit }
}

/** How many of them a function has reserved; one that is not there has none. */
export async function fetchReservedConcurrency(
  { credentials, region }: AwsCaller,
  FunctionName: string,
): Promise<number> {
  if (FunctionName === '') return 0
  const lambda = new LambdaClient({ region, credentials, maxAttempts: 3 })
  const asked = lambda.send(new GetFunctionConcurrencyCommand({ FunctionName })).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined
    throw awsRefusal(error)
  })
  return (await asked)?.ReservedConcurrentExecutions ?? 0
}

async function reserveConcurrency(
  { credentials, region }: AwsCaller,
  FunctionName: string,
  executions: number | undefined,
): Promise<void> {
  const lambda = new LambdaClient({ region, credentials, maxAttempts: 3 })
  const call =
    executions === undefined
      ? lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }))
      : lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: executions }))
  await call.catch((error: unknown) => {
    throw awsRefusal(error)
  })
}
