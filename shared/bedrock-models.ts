/** What a model id of Amazon Bedrock names: a model of one region, a profile that spreads calls over regions, or an ARN. */
export type BedrockModel =
  | { readonly kind: 'foundation'; readonly id: string }
  /** `id` as it is asked for, `us.vendor.model`; `model` the foundation model behind it. */
  | { readonly kind: 'profile'; readonly id: string; readonly model: string }
  /** Application profiles, provisioned, imported and custom models. */
  | { readonly kind: 'arn'; readonly arn: string; readonly profile: boolean }

/** Ids and ARNs that settings may list: characters that mean nothing else in a policy. */
export const BEDROCK_MODEL_ID =
  /^(arn:aws[a-z-]*:bedrock:[a-z0-9-]+:\d{12}:(application-inference-profile|inference-profile|provisioned-model|imported-model|custom-model-deployment)\/[\w.:-]{1,200}|[a-z0-9-]+(\.[A-Za-z0-9:_-]+)+)$/

export function bedrockModel(id: string): BedrockModel {
  if (id.startsWith('arn:')) return { kind: 'arn', arn: id, profile: id.includes('inference-profile/') }
  const [first = '', ...rest] = id.split('.')
  return GEOGRAPHIES.has(first) && rest.length > 1
    ? { kind: 'profile', id, model: rest.join('.') }
    : { kind: 'foundation', id }
}

/** First parts of the ids of AWS's own cross-region profiles. No vendor of models is called so. */
const GEOGRAPHIES = new Set(['us', 'us-gov', 'eu', 'apac', 'jp', 'au', 'ca', 'global'])
