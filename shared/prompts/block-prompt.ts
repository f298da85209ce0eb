import type { Json } from '../canonical.ts'
import type { Block } from '../dag/dag.ts'

/**
 * The prompt of an ai block whose author wrote none: made from its name, inputs, outputs and the messages of its
 * post-gates (spec dag, `agent.prompt`). It is a template over the inputs that have a value, like an author's.
 */
export function generatedPrompt(block: Block, values: Readonly<Record<string, Json>>): string {
  const lines = [`${block.name}.`]
  const inputs = Object.entries(block.inputs).filter(([port]) => Object.hasOwn(values, port))
  if (inputs.length > 0) lines.push('', 'Inputs:')
  for (const [port, { description }] of inputs) {
    lines.push(`- ${port}${description === undefined ? '' : ` (${description})`}: {{inputs.${port}}}`)
  }
  const outputs = Object.entries(block.outputs)
  if (outputs.length > 0) lines.push('', 'Answer with:')
  for (const [port, { type, description }] of outputs) {
    lines.push(`- ${port} (${type})${description === undefined ? '' : `: ${description}`}`)
  }
  const rules = block.post_gates.flatMap((gate) => (gate.error === undefined ? [] : [`- ${gate.error}`]))
  if (rules.length > 0) lines.push('', 'The answer is checked:', ...rules)
  return lines.join('\n')
}

/** What a further try is told: the gates and contract lines the previous answer failed, as data. */
export function withFeedback(prompt: string, feedback: readonly string[]): string {
  if (feedback.length === 0) return prompt
  return [prompt, '', 'The previous answer was refused:', ...feedback.map((line) => `- ${line}`)].join('\n')
}
