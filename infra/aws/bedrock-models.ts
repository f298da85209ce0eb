import { bedrockModel } from '../../shared/providers/settings.ts'

/** A model of Bedrock that the stage's settings list, and where it is asked; undefined = in the stage's own region. */
export interface AskedModel {
  readonly id: string
  readonly region: string | undefined
}

/** What a profile answers from, as the ends of ARNs; of an application's own profile only AWS knows the model. */
export function modelsBehind(id: string): readonly string[] {
  const model = bedrockModel(id)
  if (model.kind === 'foundation' || (model.kind === 'arn' && !model.profile)) return []
  return [`*::foundation-model/${model.kind === 'profile' ? model.model : '*'}`]
}
