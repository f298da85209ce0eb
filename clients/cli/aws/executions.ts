import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, LambdaClient } from '@aws-sdk/client-lambda'
import type { AwsCaller } from './aws-caller.ts'
import { awsRefusal } from './aws-refusal.ts'

/** Concurrent executions of Lambda an account may have in a region, and how many of them nobody reserved. */
export interface Executions {
  readonly limit: number
  readonly free: number
}

export async function executionsOf({ credentials, region }: AwsCaller): Promise<Executions> {
  const lambda = new LambdaClient({ region, credentials, maxAttempts: 3 })
  const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand()).catch((error: unknown) => {
    throw awsRefusal(error)
  })
  const limit = AccountLimit?.ConcurrentExecutions ?? 0
  return { limit, free: AccountLimit?.UnreservedConcurrentExecutions ?? limit }
}

/** How many of them a function has reserved; one that is not there has none. */
export async function reservedBy({ credentials, region }: AwsCaller, FunctionName: string): Promise<number> {
  if (FunctionName === '') return 0
  const lambda = new LambdaClient({ region, credentials, maxAttempts: 3 })
  const asked = lambda.send(new GetFunctionConcurrencyCommand({ FunctionName })).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return undefined
    throw awsRefusal(error)
  })
  return (await asked)?.ReservedConcurrentExecutions ?? 0
}
