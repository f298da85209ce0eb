import { type HttpService, ServiceError, serveAws, targetOf } from './http-service.ts'

/** Systems Manager GetParameter and Secrets Manager GetSecretValue over one table of values by ARN. */
export function startSecrets(values: Readonly<Record<string, string>>): Promise<HttpService> {
  return serveAws({
    mediaType: 'application/x-amz-json-1.1',
    operationOf: targetOf,
    answer({ operation, body }) {
      const input = JSON.parse(body.toString()) as Readonly<Record<string, unknown>>
      if (operation === 'GetParameter') return { body: JSON.stringify(parameter(values, input)) }
      if (operation === 'GetSecretValue') return { body: JSON.stringify(secretValue(values, input)) }
      throw new ServiceError('UnknownOperationException', '')
    },
  })
}

function parameter(
  values: Readonly<Record<string, string>>,
  { Name, WithDecryption }: Readonly<Record<string, unknown>>,
) {
  const value = values[String(Name)]
  if (value === undefined) throw new ServiceError('ParameterNotFound', '')
  const Value = WithDecryption === true ? value : `encrypted:${Buffer.from(value).toString('base64')}`
  return {
    Parameter: { Name: String(Name).split(':parameter')[1], ARN: Name, Type: 'SecureString', Value, Version: 1 },
  }
}

function secretValue(values: Readonly<Record<string, string>>, { SecretId }: Readonly<Record<string, unknown>>) {
  const SecretString = values[String(SecretId)]
  if (SecretString === undefined) {
    throw new ServiceError('ResourceNotFoundException', "Secrets Manager can't find the specified secret.")
  }
  return { ARN: SecretId, Name: String(SecretId).split(':').at(-1), SecretString, VersionId: 'v1' }
}
