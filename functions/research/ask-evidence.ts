import type { Json } from '../../shared/canonical.ts'
import type { DispatchRequest } from '../../shared/provider.ts'
import type { AskingStage } from '../../shared/research/extractive-model.ts'
import { evidenceForPrompt } from '../../shared/research/prompt-data.ts'
import { promptRoom } from '../../shared/research/prompt-room.ts'
import { type Asked, askModel, type Reading } from './ask-model.ts'
import { roomFor } from './room-for.ts'
import type { Shown } from './show-evidence.ts'
import type { StageCall } from './stage-call.ts'

interface EvidenceQuestion<T> {
  readonly stage: AskingStage
  readonly system: string
  readonly output_schema: DispatchRequest['output_schema']
  prompt(topic: string, evidence: readonly { readonly text: string }[]): string
  read(text: string): Reading<T>
}

/**
 * Asks about the question and its evidence: as much of it as there is room for in the prompt, in rank order; all of it as
 * data. It is the question as it was asked: a retighten changes what is searched for, not what is answered.
 */
export function askEvidence<T>(
  call: StageCall,
  shown: readonly Shown[],
  { stage, system, output_schema, prompt, read }: EvidenceQuestion<T>,
): Promise<Asked<T>> {
  const { topic } = call.state.intent
  const fixed = Math.ceil((system.length + prompt(topic, []).length) / 4)
  const { answer_tokens, keep, data } = promptRoom(stage, fixed, roomFor(call))
  const evidence = shown.map(({ entity_id, label, source, text, facts, geo }) => ({
    entity_id,
    label,
    source,
    text,
    facts,
    geo,
  }))
  return askModel(call, {
    system,
    prompt: prompt(topic, evidenceForPrompt(shown, data)),
    // undefined members are those of JSON that are not there.
    inputs: { topic, evidence } as unknown as Readonly<Record<string, Json>>,
    output_schema,
    answer_tokens,
    keep,
    read,
  })
}
