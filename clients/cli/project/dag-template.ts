export const DAG_MODES = ['ai', 'deterministic'] as const

/** A valid document of these blocks, one after the other: the first reads the run input, each other the one before it. */
export function newDagText(name: string, ids: readonly string[], mode: (typeof DAG_MODES)[number]): string {
  return `# yaml-language-server: $schema=../schemas/dag.schema.json
name: ${name}
version: "1"
inputs:
  topic: { type: string, default: What a gate is for, description: What this run is about }

blocks:
${ids.map((id, i) => BLOCKS[mode](id, ids[i - 1])).join('\n')}`
}

const BLOCKS = { ai: aiBlock, deterministic: deterministicBlock }

function aiBlock(id: string, before: string | undefined): string {
  return `  - id: ${id}
${inputsOf(before)}    outputs:
      text: { type: string }
    agent:
      # \`local\` is text tools, no model; providers of sluice.yaml are models.
      provider: local
      model: outline
      prompt: "Say what this block does with: {{inputs.${portOf(before)}}}"
    retry: { max_attempts: 3, delay_ms: 100 }
    post_gates:
      - name: ${id}-has-text
        check: { type: min_length, port: text, min: 20 }
        error: ${id} must not be empty
`
}

function deterministicBlock(id: string, before: string | undefined): string {
  return `  - id: ${id}
    mode: deterministic
${inputsOf(before)}    outputs:
      text: { type: string }
    # JSONata over \`inputs\`; other handlers: docs/dag.md.
    deterministic: { handler: transform, config: { expression: "$trim(inputs.${portOf(before)})" } }
    post_gates:
      - name: ${id}-has-text
        check: { type: not_empty, port: text }
        error: ${id} must not be empty
`
}

function inputsOf(before: string | undefined): string {
  return `    inputs:\n      ${portOf(before)}: ${before === undefined ? 'string' : `{ from: ${before}.text }`}\n`
}

function portOf(before: string | undefined): string {
  return before === undefined ? 'topic' : 'text'
}
