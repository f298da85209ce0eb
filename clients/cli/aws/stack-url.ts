import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { Refused } from '../refused.ts'
import type { AwsCaller } from './aws-caller.ts'
import { awsRefusal } from './aws-refusal.ts'

/** The address of a deployment's API, out of the outputs of its stack (infra/aws/api-stack.ts writes it as `Url`). */
export async function stackUrl(name: string, { cloudFormation }: AwsCaller): Promise<string> {
  const stack = stackName(name)
  const found = await cloudFormation.send(new DescribeStacksCommand({ StackName: stack })).catch((error: unknown) => {
    throw /does not exist/.test(String(error)) ? noStack(stack) : awsRefusal(error)
  })
  const outputs = found.Stacks?.[0]?.Outputs ?? []
  const url = outputs.find(({ OutputKey }) => OutputKey === 'Url')?.OutputValue
  if (url !== undefined) return url.replace(/\/+$/, '')
  const seen = outputs.map(({ OutputKey }) => OutputKey).join(', ') || 'none'
  const detail = `Stack "${stack}" has no output Url (its outputs: ${seen}). Name the stack of the API: sluice-STAGE-api, or just STAGE.`
  throw new Refused({ code: 'stack_without_url', detail })
}

/** A stage is enough; its names are those of infra/aws/build-app.ts. */
function stackName(name: string): string {
  return /^[a-z0-9]{1,12}$/.test(name) ? `sluice-${name}-api` : name
}

function noStack(stack: string): Refused {
  const detail = `There is no stack "${stack}" in this account and region. \`aws cloudformation list-stacks\` shows what is there; --profile and --region choose another place.`
  return new Refused({ code: 'stack_not_found', detail })
}
