/** sluice.yaml of a new project: what is set stands there, what is usual is shown. */
export const SETTINGS_FILE = `# yaml-language-server: $schema=schemas/sluice.schema.json
# Settings of this project. Everything may be left out; \`sluice validate\` checks this file and every dags/*.yaml.
version: 1

# Where \`sluice start\` answers, on 127.0.0.1 only.
port: 4040
# Runs, events and objects. Keep it out of version control.
data_dir: .sluice
# Folders of documents, and the one folder that runs may read files from.
dags: [dags]
inputs_dir: inputs

# Models. Provider \`local\` (text tools, no model) is always there. A key is named here and never written here.
# providers:
#   ollama: { type: ollama, url: "http://127.0.0.1:11434" }
#   openai: { type: openai-compatible, url: "https://api.openai.com/v1", key: { env: OPENAI_API_KEY } }

# Agents that blocks find by role or capability instead of naming provider and model.
agents:
  writer: { role: worker, provider: local, model: outline, capabilities: [writing] }

# Caps of every run; \`sluice run start\` is refused above max_runs, a run is cancelled above max_run_sec.
safety:
  max_runs: 5
  max_run_sec: 86400
  max_attempts: 3
  # max_run_usd: 2.5
`
