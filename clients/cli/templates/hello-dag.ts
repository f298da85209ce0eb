/** dags/hello.yaml of a new project: real work that needs no key and no network. */
export const HELLO_DAG = `# yaml-language-server: $schema=../schemas/dag.schema.json
# Notes in, outline out: read a file -> outline it -> gates -> keep it as an artifact. Provider \`local\` is text tools,
# no model: it runs offline and costs nothing. Run it with \`sluice run start\`.
name: hello
version: "1"
inputs:
  title: { type: string, default: Outline, description: What stands above the outline }

blocks:
  - id: read
    name: Read the notes
    mode: deterministic
    # Below inputs_dir of sluice.yaml.
    deterministic: { handler: read-input, config: { path: notes.md } }
    outputs:
      notes: { type: string }
    post_gates:
      - name: has-text
        check: { type: min_length, port: notes, min: 50 }
        error: inputs/notes.md has nothing to outline
        on_fail: fail

  - id: outline
    name: Outline what they say
    inputs:
      title: string
      notes: { from: read.notes }
    outputs:
      text: { type: string }
    agent:
      provider: local
      model: outline
      # To let a model do it, name a provider of sluice.yaml here, and a model it has.
      prompt: "{{inputs.title}}. Name every decision and every open question of these notes.\\n{{inputs.notes}}"
    # Another try is told what a gate refused, three tries at most.
    retry: { max_attempts: 3, delay_ms: 100 }
    post_gates:
      - name: long-enough
        check: { type: min_length, port: text, min: 200 }
        error: The outline leaves too much out
      - name: numbered
        check: { type: matches, port: text, pattern: "^1\\\\. ", flags: m }
        error: An outline is a numbered list
      - name: names-the-decision
        check: { type: matches, port: text, pattern: "Decision: \\\\w+" }
        error: The outline must name what was decided

  - id: publish
    name: Keep the outline
    mode: deterministic
    inputs:
      body: { from: outline.text }
    outputs:
      file: { type: artifact }
    deterministic: { handler: write-artifact, config: { name: outline.md, media_type: text/markdown } }
    # A person agrees before this block runs, as soon as you take the # away; \`sluice run approve RUN\` then.
    # approval: { prompt: "Publish this outline?", show: [body] }
`

/** inputs/notes.md of a new project. */
export const NOTES = `# Release meeting

Present: Ana, Ben, Chidi. 40 minutes.

## Import of customer files

Ben measured the import of 12,000 customer files: 31 minutes, of which 22 are spent waiting for the disk.
Reading ahead by four files brings it to 14 minutes on the same machine.
Decision: reading ahead goes into release 2.4, with four files as the default.

## Error messages

Support counted 57 questions in October that one sentence would have answered.
Decision: every refusal names the file, the line and what is allowed.
Chidi writes the list of messages until 5 December.

## Open questions

- Does reading ahead help on network drives? Ana tests it on the shared volume.
- Who translates the new messages? The budget allows 1,500 words.
`
