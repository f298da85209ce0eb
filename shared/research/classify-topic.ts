import { type Classification, classifyKeywords } from './classify-keywords.ts'

/**
 * A further tier: 1 lexical or embedding, 3 a model (off by default). It is asked where the keywords found nothing;
 * undefined = it has nothing to say either.
 */
export interface TopicClassifier {
  readonly tier: '1' | '3'
  classify(topic: string): Promise<Classification | undefined>
}

/**
 * The first tier that knows the topic: keywords, then the others in their order. A tier that fails is passed over and
 * degrades the output; where none matched it is tier 0 with confidence 0.
 */
export async function classifyTopic(
  topic: string,
  now: Date,
  further: readonly TopicClassifier[],
): Promise<Classification & { readonly degraded_reason?: string }> {
  const known = classifyKeywords(topic, now)
  if (known !== undefined) return known
  const failed: string[] = []
  for (const { tier, classify } of further) {
    const found = await classify(topic).catch(() => {
      failed.push(tier)
      return undefined
    })
    if (found !== undefined) return withReason(found, failed)
  }
  return withReason({ tier: '0', intent: '', confidence: 0, hints: {} }, failed)
}

function withReason(classification: Classification, failed: readonly string[]) {
  if (failed.length === 0) return classification
  return { ...classification, degraded_reason: `classifier tier ${failed.join(', ')} failed` }
}
