import {
  InvokeCommand,
  LambdaClient,
  type LambdaClientConfig,
  ListVersionsByFunctionCommand,
} from '@aws-sdk/client-lambda'
import { Fault } from '../../shared/errors.ts'
import { stepFunction, stepSlug } from '../../shared/steps/described-step.ts'
import type { StepCode, Steps } from '../../shared/steps/steps-port.ts'
import type { Core } from './core.ts'
import { openDescribedSteps } from './ports-without-sdk.ts'
import { CLIENT_OPTIONS, sdkFault } from './sdk.ts'

/**
 * The Steps port on AWS: a function a step and tenant, invoked asynchronously. Each deployment that changes a step's code publishes a
 * version whose description is the hash of that code; a run goes on with the version it began with.
 */
export function openSteps({ env, settings }: Pick<Core, 'env' | 'settings'>, config: LambdaClientConfig = {}): Steps {
  const client = new LambdaClient({ ...CLIENT_OPTIONS, ...config })
  const versions = new Map<string, string>()
  const versionOf = async (step: StepCode, FunctionName: string) => {
    const known = versions.get(`${FunctionName} ${step.hash}`)
    if (known !== undefined) return known
    const found = await findVersion(client, FunctionName, step)
    versions.set(`${FunctionName} ${step.hash}`, found)
    return found
  }
  return {
    ...openDescribedSteps({ settings }),
    async start(step, start) {
      const FunctionName = stepFunction(env.STAGE, stepSlug(step.name), start.place.tenant)
      const Qualifier = await versionOf(step, FunctionName)
      const Payload = Buffer.from(JSON.stringify(start))
      const command = new InvokeCommand({ FunctionName, Qualifier, InvocationType: 'Event', Payload })
      await client.send(command).catch((error: unknown) => {
        throw sdkFault(error, { doing: `start step "${step.name}"`, action: 'lambda:InvokeFunction' })
      })
    },
  }
}

async function findVersion(client: LambdaClient, FunctionName: string, { name, hash }: StepCode): Promise<string> {
  let Marker: string | undefined
  do {
    const command = new ListVersionsByFunctionCommand({ FunctionName, ...(Marker === undefined ? {} : { Marker }) })
    const page = await client.send(command).catch((error: unknown) => {
      throw sdkFault(error, { doing: `find step "${name}"`, action: 'lambda:ListVersionsByFunction' })
    })
    const found = page.Versions?.find(({ Description }) => Description === hash)?.Version
    if (found !== undefined) return found
    Marker = page.NextMarker
  } while (Marker !== undefined)
  const message = `Cannot run step "${name}": no version of its function has the code this run began with (${hash.slice(0, 12)}). Somebody deleted it. Retry the run: a retry takes the code as it is now.`
  throw new Fault('InvalidInput', 'step_not_deployed', message)
}
