import type { BlockCall } from './block-call.ts'

/** The verdicts that sent this block back into its present epoch: every attempt there is told of them. */
export async function bounceFeedback({
  world,
  run,
  module,
  head,
  block,
  epoch,
}: BlockCall): Promise<readonly string[]> {
  if (module === undefined || epoch === 0) return []
  const lines = new Set<string>()
  for (const { key, hull } of module.rules) {
    const fired = head.modules[String(module.key)]?.rules[key]
    if (fired?.feedback_ref === undefined || fired.epoch !== epoch || !hull.includes(block.id)) continue
    const text = Buffer.from(await world.objects.get(run.tenant, fired.feedback_ref)).toString('utf8')
    // close-module wrote it: a list of texts.
    for (const line of JSON.parse(text) as readonly string[]) lines.add(line)
  }
  return [...lines]
}
