import type { Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { bedrockModel } from '../../shared/bedrock-models.ts'

/** A model of Bedrock that the stage's settings list, and where it is asked; undefined = in the stage's own region. */
export interface AskedModel {
  readonly id: string
  readonly region: string | undefined
}

/**
 * Asking exactly this model. A profile answers from models of several regions, which must be allowed too, but only for
 * calls that come through the profile. Converse is authorised as InvokeModel, its stream as the other.
 */
export function modelStatements({ id, region: asked }: AskedModel, stack: Stack): PolicyStatement[] {
  const model = bedrockModel(id)
  const region = asked ?? stack.region
  const arn = (rest: string) => `arn:${stack.partition}:bedrock:${rest}`
  if (model.kind === 'foundation') return [asking([arn(`${region}::foundation-model/${model.id}`)])]
  const named = model.kind === 'arn' ? model.arn : arn(`${region}:${stack.account}:inference-profile/${model.id}`)
  return [asking([named]), ...modelsBehind(id).map((behind) => behindProfile(arn(behind), named))]
}

/** What a profile answers from, as the ends of ARNs; of an application's own profile only AWS knows the model. */
export function modelsBehind(id: string): readonly string[] {
  const model = bedrockModel(id)
  if (model.kind === 'foundation' || (model.kind === 'arn' && !model.profile)) return []
  return [`*::foundation-model/${model.kind === 'profile' ? model.model : '*'}`]
}

const ACTIONS = ['bedrock:InvokeModel', 'bedrock:InvokeModelWithResponseStream']

function asking(resources: string[]): PolicyStatement {
  return new PolicyStatement({ actions: [...ACTIONS], resources })
}

function behindProfile(model: string, profile: string): PolicyStatement {
  const conditions = { StringEquals: { 'bedrock:InferenceProfileArn': profile } }
  return new PolicyStatement({ actions: [...ACTIONS], resources: [model], conditions })
}
