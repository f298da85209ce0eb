/** What a button of a message stands for: `v1|<approval id>|<decision>|<digest[0..32]>`. */
export interface ButtonValue {
  readonly approval_id: string
  readonly decision: 'approve' | 'reject' | 'waive'
  /** The first half of the digest of what the message shows: a decision is bound to it. */
  readonly digest: string
}

/** At most 2,000 characters are allowed; this has about 80. */
export function writeButtonValue({ approval_id, decision, digest }: ButtonValue): string {
  return `v1|${approval_id}|${decision}|${digest.slice(0, 32)}`
}

/** undefined: not one that this version wrote. */
export function readButtonValue(text: string): ButtonValue | undefined {
  const [, approval_id, decision, digest] = FORM.exec(text) ?? []
  if (approval_id === undefined || decision === undefined || digest === undefined) return undefined
  // The pattern lets nothing else through.
  return { approval_id, decision: decision as ButtonValue['decision'], digest }
}

const FORM =
  /^v1\|(apr_[0-9a-hjkmnp-tv-z]{26}_[0-9a-z]{1,4}_[0-9]{1,6}(?:_a[0-9]{1,4})?)\|(approve|reject|waive)\|([0-9a-f]{32})$/
