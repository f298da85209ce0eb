import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { Refused } from '../refused.ts'
import { awsCaller, type CallerOptions } from './aws-caller.ts'
import { awsRefusal } from './aws-refusal.ts'
import { type Executions, executionsOf, reservedBy } from './executions.ts'

/** Where a deployment goes. */
export interface AwsAccount {
  readonly account: string
  readonly region: string
  /** Of the CDK's own stack there. */
  readonly bootstrap: string
  concurrency(): Promise<Executions>
  /** How many of them a function has reserved; one that is not there has none. */
  reservedBy(functionName: string): Promise<number>
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
    concurrency: () => executionsOf(caller),
    reservedBy: (name) => reservedBy(caller, name),
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
