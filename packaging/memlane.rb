# How to install it, and what was tried: docs/install.md, "With Homebrew".
class Memlane < Formula
  desc "Personal memory agent that lives on your own machine"
  license "Apache-2.0"
  # Homebrew passes on variables with this prefix only.
  head "file://#{ENV.fetch("HOMEBREW_MEMLANE_CHECKOUT", "/nonexistent")}", using: :git

  depends_on "python@3.13"

  # Prebuilt wheels have no room in their headers for the longer paths that Homebrew writes there.
  preserve_rpath

  def install
    # Not virtualenv_create: its environments have no pip.
    system "python3.13", "-m", "venv", libexec
    system libexec/"bin/pip", "install", "-c", "constraints.txt", ".[offline]"
    bin.install_symlink libexec/"bin/memlane"
  end

  test do
    ENV["MEMLANE_RESIDENT"] = "no"
    told = "My bicycle is red."
    system bin/"memlane", "--home", testpath/"home", "remember", told
    assert_match told, shell_output("#{bin}/memlane --home #{testpath}/home list")
  end
end
