import type { paths } from '../../api/schema.generated.ts'
import { StateMark } from '../parts/state-mark.tsx'
import { Ago } from '../parts/time-view.tsx'

type Token = paths['/api/tokens']['get']['responses'][200]['content']['application/json']['tokens'][number]

/** Who made and who revoked each, when, and what it may do. Of no use to log in with. */
export function TokenTable({ tokens }: { readonly tokens: readonly Token[] }) {
  return (
    <div class="scroll">
      <table>
        <caption>Tokens, newest first. They stay listed until 400 days after they expired.</caption>
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col">May</th>
            <th scope="col">State</th>
            <th scope="col">Made</th>
            <th scope="col">Revoked</th>
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <tr key={token.token_id}>
              <th scope="row" class="plain">
                {token.name} <code>{token.token_id}</code>
                {token.person !== undefined && ` of ${token.person}`}
              </th>
              <td>{token.scopes.join(', ')}</td>
              <td>
                <StateMark state={token.state} />, {token.state === 'expired' ? 'since' : 'expires'}{' '}
                <Ago at={token.expires_at} />
              </td>
              <td>
                by {named(token.created_by, token.created_person)}, <Ago at={token.created_at} />
              </td>
              <td>
                {token.revoked_at !== undefined && (
                  <>
                    by {named(token.revoked_by, token.revoked_person)}, <Ago at={token.revoked_at} />
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function named(by = '', person: string | undefined): string {
  return person === undefined ? by : `${by} (${person})`
}
