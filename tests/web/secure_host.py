"""A krond and a `kron web --service` over TLS, for the tests beside this file."""

import http.client
import ssl
import subprocess

from service_host import PATIENCE, OnServiceHost, Service


def make_certificate(directory, name="tls"):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", directory / f"{name}.key", "-out",
                    directory / f"{name}.crt"], check=True, capture_output=True)


class Secure(Service):
    """Clients who speak TLS."""

    certificate = None
    patience = PATIENCE

    def connection(self, host="127.0.0.1"):
        context = ssl.create_default_context(cafile=self.certificate)
        return http.client.HTTPSConnection("localhost", self.port, timeout=self.patience, context=context,
                                           source_address=("127.0.0.1", 0))


class OnSecureHost(OnServiceHost):
    tls_flags = ()

    def service(self, *flags):
        self.certificate, self.key = self.host.root / "tls.crt", self.host.root / "tls.key"
        make_certificate(self.host.root)
        process = self.host.start_kron("web", "--service", "--web-socket", str(self.web_socket), *flags, "--tls-cert",
                                       str(self.certificate), "--tls-key", str(self.key), *self.tls_flags)
        front = Secure(process, self.host_name)
        front.certificate = self.certificate
        return front
